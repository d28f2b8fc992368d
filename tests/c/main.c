// Everything that xorder.h has, used from C99: see check.h. Needs a directory for files, which it
// leaves empty.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <xorder.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int failures = 0;
static uint64_t state = 88172645463325252u;

int failed(void) { return failures != 0; }

void fail(const char* file, int line, const char* what) {
  pthread_mutex_lock(&mutex);
  ++failures;
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  pthread_mutex_unlock(&mutex);
}

void expect_status(const char* file, int line, const char* call, int got, int expected, const char* text) {
  char what[6000];
  if (got == expected && (got == XORDER_OK || strstr(xorder_last_error(), text) != NULL)) return;
  snprintf(what, sizeof what, "%s: %s, not %s (with '%s'): %s", call, xorder_status_text(got),
           xorder_status_text(expected), text, got == XORDER_OK ? "" : xorder_last_error());
  fail(file, line, what);
}

uint64_t random_below(uint64_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % bound;
}

static void test_version(void) {
  char text[40];
  CHECK(xorder_version() == XORDER_VERSION);
  snprintf(text, sizeof text, "%d.%d.%d", XORDER_VERSION_MAJOR, XORDER_VERSION_MINOR, XORDER_VERSION_PATCH);
  CHECK(strcmp(xorder_version_string(), text) == 0);
}

static void test_status_texts(void) {
  int status, other;
  for (status = XORDER_ERROR_INTERNAL; status <= XORDER_OK; ++status) {
    CHECK(strcmp(xorder_status_text(status), "unknown status") != 0);
    for (other = XORDER_ERROR_INTERNAL; other < status; ++other)
      CHECK(strcmp(xorder_status_text(status), xorder_status_text(other)) != 0);
  }
  CHECK(strcmp(xorder_status_text(1), "unknown status") == 0);
  CHECK(strcmp(xorder_status_text(-1000), "unknown status") == 0);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CHECK(strcmp(xorder_last_error(), "") == 0);
  CHECK(xorder_last_errno() == 0);
  test_fork(argv[1]);  // first: its own first child has a parent that has not used the library
  test_version();
  test_status_texts();
  test_permutations();
  test_memory();
  test_jobs(argv[1]);
  test_layouts();
  test_schedules();
  if (failures != 0) fprintf(stderr, "%d checks failed\n", failures);
  return failed();
}
