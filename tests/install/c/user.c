// Reorders an array in memory and a file with nothing but the installed header and library; exits 0 if both are right.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xorder.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, xorder_last_error());
  return 1;
}

int main(int argc, char** argv) {
  uint32_t data[256], expected[256], got[256] = {0};
  char in[4096], out[4096];
  xorder_options options = {0};
  xorder_permutation* what;
  xorder_plan* plan;
  xorder_job* job;
  FILE* file;
  uint32_t i;
  if (argc != 2 || xorder_version() != XORDER_VERSION) return 2;
  snprintf(in, sizeof in, "%s/in.raw", argv[1]);
  snprintf(out, sizeof out, "%s/out.raw", argv[1]);

  if (xorder_permutation_expression(&what, "gray * bitreverse", 8, sizeof *data) != XORDER_OK)
    return failed("expression");
  for (i = 0; i < 256; ++i) data[i] = i * i;
  for (i = 0; i < 256; ++i) expected[xorder_permutation_target(what, i)] = data[i];
  if (xorder_plan_create(&plan, what) != XORDER_OK) return failed("plan");
  if (xorder_plan_execute(plan, data, got, 0) != XORDER_OK) return failed("execute");
  if (memcmp(got, expected, sizeof got) != 0) return 1;

  file = fopen(in, "wb");
  if (file == NULL || fwrite(data, 1, sizeof data, file) != sizeof data || fclose(file) != 0) return 1;
  options.size = sizeof options;
  options.overwrite = 1;
  if (xorder_job_raw(&job, what, in, 0, out, 0, &options) != XORDER_OK) return failed("job");
  fputs(xorder_job_plan_text(job), stdout);
  if (xorder_job_run(job, NULL, NULL) != XORDER_OK) return failed("run");
  puts(xorder_job_report_json(job));
  file = fopen(out, "rb");
  if (file == NULL || fread(got, 1, sizeof got, file) != sizeof got) return 1;
  fclose(file);
  xorder_job_free(job);
  xorder_plan_free(plan);
  xorder_permutation_free(what);
  return memcmp(got, expected, sizeof got) != 0;
}
