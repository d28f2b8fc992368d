// Layouts: arrays with gaps and in any order of their axes, in files of any format.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xorder.h>

#include "check.h"

static char garbage;

static void write_bytes(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

// Rows of 16 elements behind 5 bytes: every second row backwards, columns 2 to 4, transposed.
static void test_strided(void) {
  enum { rows = 4, pitch = 16 };
  unsigned char file[5 + 2 * rows * pitch + 3], out[3 * rows + 1];
  const uint64_t shape[] = {rows, 3};
  const int64_t strides[] = {-2 * pitch, 1};
  const int axes[] = {1, 0};
  xorder_permutation* p;
  xorder_layout* layout;
  xorder_job* job;
  FILE* stream;
  size_t i;
  for (i = 0; i < sizeof file; ++i) file[i] = (unsigned char)i;
  write_bytes("in.any", file, sizeof file);
  OK(xorder_layout_strided(&layout, "in.any", 5 + 6 * pitch + 2, "u1", 2, shape, strides));
  CHECK(strstr(xorder_layout_json(layout), "\"strides\":[-32,1]") != NULL);
  CHECK(strstr(xorder_layout_json(layout), "\"order\":\"strided\"") != NULL);
  CHECK(strstr(xorder_layout_json(layout), "\"format\":\"raw\"") != NULL);
  CHECK(strcmp(xorder_layout_path(layout), "in.any") == 0);
  OK(xorder_permutation_axes(&p, 2, shape, axes, 1));
  OK(xorder_job_layout(&job, p, layout, "out.raw", NULL));
  xorder_layout_free(layout);  // the job does not need it
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  xorder_permutation_free(p);
  stream = fopen("out.raw", "rb");
  CHECK(stream != NULL && fread(out, 1, sizeof out, stream) == 3 * rows);
  if (stream != NULL) fclose(stream);
  for (i = 0; i < 3 * rows; ++i) CHECK(out[i] == file[5 + 6 * pitch + 2 + i / rows - 2 * pitch * (i % rows)]);
  CHECK(remove("in.any") == 0 && remove("out.raw") == 0);
}

// The result becomes the middle of a file, of which the rest stays as it is.
static void test_into(void) {
  unsigned char in[24], all[100], got[101];
  const uint64_t shape[] = {4, 6};
  xorder_permutation* p;
  xorder_layout* layout;
  xorder_job* job;
  FILE* stream;
  size_t i;
  for (i = 0; i < sizeof in; ++i) in[i] = (unsigned char)i;
  for (i = 0; i < sizeof all; ++i) all[i] = (unsigned char)(200 - i);
  write_bytes("in.any", in, sizeof in);
  write_bytes("out.npy", all, sizeof all);
  OK(xorder_layout_strided(&layout, "in.any", 0, "u1", 2, shape, NULL));
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 1));
  OK(xorder_job_into(&job, p, layout, "out.npy", 31, NULL));
  for (i = 0; i < 2; ++i) OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  for (i = 0; i < sizeof in; ++i) all[31 + i % 6 * 4 + i / 6] = in[i];
  stream = fopen("out.npy", "rb");
  CHECK(stream != NULL && fread(got, 1, sizeof got, stream) == sizeof all);
  if (stream != NULL) fclose(stream);
  CHECK(memcmp(got, all, sizeof all) == 0);

  job = (xorder_job*)&garbage;
  FAILS(XORDER_ERROR_INPUT, "would end at byte 101", xorder_job_into(&job, p, layout, "out.npy", 77, NULL));
  CHECK(job == NULL);
  FAILS(XORDER_ERROR_INPUT, "No such file", xorder_job_into(&job, p, layout, "none.npy", 0, NULL));
  FAILS(XORDER_ERROR_INPUT, "same file as the input", xorder_job_into(&job, p, layout, "in.any", 0, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_into(&job, p, NULL, "out.npy", 0, NULL));
  xorder_permutation_free(p);
  xorder_layout_free(layout);
  CHECK(remove("in.any") == 0 && remove("out.npy") == 0);
}

// Fields go along to the output, which is .npy whatever its name is, and opens as it was made.
static void test_types(void) {
  const char data[48] = "";
  const uint64_t shape[] = {4};
  const char* fields = "[('a', '<i4'), ('b', '<f8')]";
  int npy = -1;
  xorder_permutation* p;
  xorder_layout *layout, *made;
  xorder_job* job;
  write_bytes("in.any", data, sizeof data);
  OK(xorder_layout_strided(&layout, "in.any", 0, fields, 1, shape, NULL));
  OK(xorder_permutation_axes(&p, 1, shape, NULL, 12));
  OK(xorder_job_layout(&job, p, layout, "out", NULL));
  CHECK(strcmp(xorder_job_note(job), "") == 0);
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  OK(xorder_layout_open(&made, "out"));
  CHECK(strstr(xorder_layout_json(made), "\"format\":\"npy\"") != NULL);
  CHECK(strstr(xorder_layout_json(made), fields) != NULL);
  OK(xorder_output_format("out", &npy));
  CHECK(npy == 1);
  OK(xorder_output_format("a.raw", &npy));
  CHECK(npy == 0);
  FAILS(XORDER_ERROR_INPUT, ".tif means", xorder_output_format("a.tif", &npy));

  // The file changes: whoever has looked at it does not get another.
  write_bytes("in.any", data, sizeof data - 1);
  OK(xorder_job_layout(&job, p, layout, "other", NULL));
  FAILS(XORDER_ERROR_IO, "in.any: ", xorder_job_run(job, NULL, NULL));
  CHECK(access("other", F_OK) != 0);
  xorder_job_free(job);
  xorder_layout_free(made);
  xorder_layout_free(layout);
  xorder_permutation_free(p);
  CHECK(remove("in.any") == 0 && remove("out") == 0);
}

static void test_layout_errors(void) {
  const char data[64] = "";
  const uint64_t shape[] = {4, 4};
  const int64_t steps[] = {4, 1}, mixed[] = {1, 2}, before[] = {-4, 1}, beyond[] = {17, 1};
  xorder_permutation* p;
  xorder_job* job;
  xorder_layout* layout;
  write_bytes("in.any", data, sizeof data);
#define BAD(status, text, call)  \
  do {                           \
    layout = (void*)&garbage;    \
    FAILS(status, text, (call)); \
    CHECK(layout == NULL);       \
  } while (0)
  BAD(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_layout_open(&layout, NULL));
  BAD(XORDER_ERROR_INPUT, "in.any: not an .npy file", xorder_layout_open(&layout, "in.any"));
  BAD(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_layout_strided(&layout, NULL, 0, "u1", 2, shape, steps));
  BAD(XORDER_ERROR_ARGUMENT, "dtype is NULL",
      xorder_layout_strided(&layout, "in.any", 0, NULL, 2, shape, steps));
  BAD(XORDER_ERROR_ARGUMENT, "shape is NULL",
      xorder_layout_strided(&layout, "in.any", 0, "u1", 2, NULL, steps));
  BAD(XORDER_ERROR_ARGUMENT, "65 axes", xorder_layout_strided(&layout, "in.any", 0, "u1", 65, shape, NULL));
  BAD(XORDER_ERROR_INPUT, "q9", xorder_layout_strided(&layout, "in.any", 0, "q9", 2, shape, steps));
  BAD(XORDER_ERROR_INPUT, "", xorder_layout_strided(&layout, "in.any", 0, "[('a', '|O')]", 2, shape, steps));
  BAD(XORDER_ERROR_INPUT, "overlap", xorder_layout_strided(&layout, "in.any", 0, "u1", 2, shape, mixed));
  BAD(XORDER_ERROR_INPUT, "before", xorder_layout_strided(&layout, "in.any", 8, "u1", 2, shape, before));
  BAD(XORDER_ERROR_INPUT, "65", xorder_layout_strided(&layout, "in.any", 10, "u1", 2, shape, beyond));
  BAD(XORDER_ERROR_INPUT, "nowhere", xorder_layout_strided(&layout, "nowhere", 0, "u1", 2, shape, steps));
  CHECK(xorder_last_errno() == ENOENT);
#undef BAD
  OK(xorder_layout_strided(&layout, "in.any", 12, "u1", 2, shape, before));
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 2));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_layout(&job, p, NULL, "out", NULL));
  FAILS(XORDER_ERROR_INPUT, "of 1-byte elements", xorder_job_layout(&job, p, layout, "out", NULL));
  CHECK(strcmp(xorder_layout_json(NULL), "") == 0 && strcmp(xorder_layout_path(NULL), "") == 0);
  xorder_layout_free(NULL);
  xorder_layout_free(layout);
  xorder_permutation_free(p);
  CHECK(remove("in.any") == 0);
}

void test_layouts(void) {
  test_strided();
  test_into();
  test_types();
  test_layout_errors();
}
