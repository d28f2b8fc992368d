// The library in a child of fork(), before and after the parent has used it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xorder.h>

#include "check.h"

enum { rows = 512, columns = 1024, elements = rows * columns };  // enough that several threads permute it

// With four threads, in memory and from file to file.
static void use_library(void) {
  const uint64_t shape[] = {rows, columns};
  uint64_t* in = malloc(elements * sizeof *in);
  uint64_t* out = calloc(elements, sizeof *out);
  xorder_permutation* p;
  xorder_plan* plan;
  xorder_job* job;
  xorder_options options = {0};
  FILE* file;
  uint64_t i, wrong = 0;
  for (i = 0; i < elements; ++i) in[i] = i;
  OK(xorder_permutation_axes(&p, 2, shape, NULL, sizeof *in));

  OK(xorder_plan_create(&plan, p));
  OK(xorder_plan_execute(plan, in, out, 4));
  for (i = 0; i < elements; ++i) wrong += out[i % columns * rows + i / columns] != i;
  CHECK(wrong == 0);

  file = fopen("fork.in", "wb");
  CHECK(file != NULL && fwrite(in, sizeof *in, elements, file) == elements && fclose(file) == 0);
  options.size = sizeof options;
  options.threads = 4;
  OK(xorder_job_raw(&job, p, "fork.in", 0, "fork.out", 0, &options));
  OK(xorder_job_run(job, NULL, NULL));
  file = fopen("fork.out", "rb");
  CHECK(file != NULL && fread(in, sizeof *in, elements, file) == elements && fclose(file) == 0);
  CHECK(memcmp(in, out, elements * sizeof *in) == 0);
  CHECK(remove("fork.in") == 0 && remove("fork.out") == 0);

  xorder_job_free(job);
  xorder_plan_free(plan);
  xorder_permutation_free(p);
  free(in);
  free(out);
}

static void use_library_in(const char* directory) {
  char here[4096];
  CHECK(getcwd(here, sizeof here) != NULL && chdir(directory) == 0);
  use_library();
  CHECK(chdir(here) == 0);
}

static void use_library_in_child(const char* directory) {
#ifndef __SANITIZE_THREAD__  // which allows no threads after fork()
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // it must not hang
    use_library_in(directory);
    _exit(failed());
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
#else
  (void)directory;
#endif
}

void test_fork(const char* directory) {
  use_library_in_child(directory);
  use_library_in(directory);
  use_library_in_child(directory);
}
