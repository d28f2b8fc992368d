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
  FAILS(XORDER_ERROR_INPUT, "a.h5: names an HDF5 file", xorder_output_format("a.h5", &npy));
  FAILS(XORDER_ERROR_INPUT, "a.h5:/g/x: names an HDF5 file", xorder_output_format("a.h5:/g/x", &npy));

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

static int stop(const xorder_progress* progress, void* user) {
  (void)progress;
  ++*(int*)user;
  return 1;
}

// A transposition that holds, in either order of the axes, and one of which some bytes are wrong.
static void test_verify(void) {
  enum { rows = 300, columns = 200, bytes = rows * columns };
  static unsigned char in[bytes], out[bytes];
  const uint64_t shape[] = {rows, columns}, turned[] = {columns, rows};
  const int64_t fortran[] = {1, columns}, gaps[] = {2 * rows, 1};
  xorder_options options = {0};
  xorder_difference found[2] = {{7, 7, 7, 7}, {7, 7, 7, 7}};
  xorder_permutation* p;
  xorder_layout *from, *to, *other;
  size_t count = 7;
  int i, calls = 0;
  for (i = 0; i < bytes; ++i) in[i] = (unsigned char)random_below(256);
  for (i = 0; i < bytes; ++i) out[i % columns * rows + i / columns] = in[i];
  write_bytes("in.any", in, bytes);
  write_bytes("out.any", out, bytes);
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 1));
  OK(xorder_layout_strided(&from, "in.any", 0, "u1", 2, shape, NULL));
  OK(xorder_layout_strided(&to, "out.any", 0, "u1", 2, turned, NULL));
  OK(xorder_verify(p, from, to, NULL, NULL, NULL, NULL, 0, &count));
  CHECK(count == 0);
  OK(xorder_layout_strided(&other, "in.any", 0, "u1", 2, turned, fortran));
  options.size = sizeof options;
  options.memory = 16 << 20;
  OK(xorder_verify(p, from, other, &options, NULL, NULL, found, 2, &count));
  CHECK(count == 0 && found[0].first_byte == 7);
  FAILS(XORDER_ERROR_CANCELLED, "", xorder_verify(p, from, to, NULL, stop, &calls, found, 2, &count));
  CHECK(calls > 0);
  xorder_layout_free(other);

  xorder_layout_free(to);
  out[100] ^= 1;
  out[40000] ^= 1;
  out[59999] ^= 128;
  write_bytes("out.any", out, bytes);
  OK(xorder_layout_strided(&to, "out.any", 0, "u1", 2, turned, NULL));
  count = 0;
  OK(xorder_verify(p, from, to, NULL, NULL, NULL, found, 2, &count));
  CHECK(count == 3);
  CHECK(found[0].first_byte == 0 && found[0].end_byte == 4096 && found[0].end_element == 4096);
  CHECK(found[1].first_byte <= 40000 && found[1].end_element > 40000 && found[1].end_byte == 40960);

  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL",
        xorder_verify(NULL, from, to, NULL, NULL, NULL, found, 2, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "source is NULL",
        xorder_verify(p, NULL, to, NULL, NULL, NULL, found, 2, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "result is NULL",
        xorder_verify(p, from, NULL, NULL, NULL, NULL, found, 2, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "differences is NULL",
        xorder_verify(p, from, to, NULL, NULL, NULL, NULL, 2, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "count is NULL", xorder_verify(p, from, to, NULL, NULL, NULL, found, 2, NULL));
  FAILS(XORDER_ERROR_INPUT, "out.any: has the shape (200, 300)",
        xorder_verify(p, to, from, NULL, NULL, NULL, found, 2, &count));
  FAILS(XORDER_ERROR_INPUT, "in.any: its shape is (300, 200), that of the result (200, 300)",
        xorder_verify(p, from, from, NULL, NULL, NULL, found, 2, &count));
  OK(xorder_layout_strided(&other, "out.any", 0, "i1", 2, turned, NULL));
  FAILS(XORDER_ERROR_INPUT, "out.any: its type is '|i1'",
        xorder_verify(p, from, other, NULL, NULL, NULL, found, 2, &count));
  xorder_layout_free(other);
  write_bytes("in.any", in, 10);
  FAILS(XORDER_ERROR_IO, "in.any", xorder_verify(p, from, to, NULL, NULL, NULL, found, 2, &count));
  CHECK(strcmp(xorder_last_error_path(), "in.any") == 0);
  write_bytes("in.any", in, bytes);
  xorder_permutation_free(p);
  xorder_layout_free(from);
  xorder_layout_free(to);

  {
    const uint64_t part[] = {rows / 2, columns / 2};
    const int64_t steps[] = {columns, 1};
    OK(xorder_permutation_axes(&p, 2, part, NULL, 1));
    OK(xorder_layout_strided(&from, "in.any", 0, "u1", 2, part, steps));
    OK(xorder_layout_strided(&to, "out.any", 0, "u1", 2, (const uint64_t[]){columns / 2, rows / 2}, gaps));
    FAILS(XORDER_ERROR_INPUT, "out.any: its elements must follow each other",
          xorder_verify(p, from, to, NULL, NULL, NULL, found, 2, &count));
    xorder_permutation_free(p);
    xorder_layout_free(from);
    xorder_layout_free(to);
  }
  CHECK(remove("in.any") == 0 && remove("out.any") == 0);
}

// Behind a header of the caller's, in either order, under a name that means nothing.
static void test_checksum(void) {
  enum { bytes = (2 << 20) + 5 };
  static unsigned char data[bytes];
  char text[300];
  xorder_difference found[1];
  size_t length = 0, count = 7;
  int calls = 0;
  write_bytes("in.any", data, bytes);
  OK(xorder_checksum("in.any", NULL, NULL, NULL, text, sizeof text, &length));
  CHECK(length == strlen(text) && length < 100 + 33 * 3);
  OK(xorder_checksum_compare("in.any", text, "kept", NULL, NULL, NULL, NULL, 0, &count));
  CHECK(count == 0);
  data[bytes - 1] = data[0] = 1;
  write_bytes("in.any", data, bytes);
  OK(xorder_checksum_compare("in.any", text, "kept", NULL, NULL, NULL, found, 1, &count));
  CHECK(count == 2 && found[0].first_byte == 0 && found[0].end_byte == 1 << 20);
  FAILS(XORDER_ERROR_CANCELLED, "",
        xorder_checksum("in.any", NULL, stop, &calls, text, sizeof text, &length));
  FAILS(XORDER_ERROR_INPUT,
        "kept: ", xorder_checksum_compare("in.any", "7", "kept", NULL, NULL, NULL, NULL, 0, &count));
  FAILS(XORDER_ERROR_INPUT,
        "missing: ", xorder_checksum("missing", NULL, NULL, NULL, text, sizeof text, &length));
  FAILS(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_checksum(NULL, NULL, NULL, NULL, text, 1, &length));
  CHECK(strcmp(xorder_last_error_path(), "") == 0);
  FAILS(XORDER_ERROR_ARGUMENT, "checksum is NULL",
        xorder_checksum_compare("in.any", NULL, "", NULL, NULL, NULL, NULL, 0, &count));
}

static void test_raw_output(void) {
  enum { rows = 4, columns = 6, offset = 10 };
  unsigned char in[rows * columns], out[offset + sizeof in + 1];
  const uint64_t shape[] = {rows, columns};
  xorder_permutation* p;
  xorder_layout* layout;
  xorder_job* job;
  FILE* stream;
  int fortran;
  size_t i;
  for (i = 0; i < sizeof in; ++i) in[i] = (unsigned char)(i + 1);
  write_bytes("in.any", in, sizeof in);
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 1));
  OK(xorder_layout_strided(&layout, "in.any", 0, "u1", 2, shape, NULL));
  for (fortran = 0; fortran < 2; ++fortran) {
    OK(xorder_job_layout_raw(&job, p, layout, "out.img", offset, fortran, NULL));
    OK(xorder_job_run(job, NULL, NULL));
    xorder_job_free(job);
    stream = fopen("out.img", "rb");
    CHECK(stream != NULL && fread(out, 1, sizeof out, stream) == offset + sizeof in && fclose(stream) == 0);
    for (i = 0; i < offset; ++i) CHECK(out[i] == 0);
    for (i = 0; i < sizeof in; ++i)
      CHECK(out[offset + i] == (fortran ? in[i] : in[i % rows * columns + i / rows]));
    CHECK(remove("out.img") == 0);
  }
  FAILS(XORDER_ERROR_INPUT, "out.npy: a file of that name has a header of its own",
        xorder_job_layout_raw(&job, p, layout, "out.npy", 0, 0, NULL));
  FAILS(XORDER_ERROR_INPUT, "out.tif", xorder_job_layout_raw(&job, p, layout, "out.tif", 0, 0, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_job_layout_raw(&job, p, layout, NULL, 0, 0, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_layout_raw(&job, p, NULL, "out.img", 0, 0, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL",
        xorder_job_layout_raw(&job, NULL, layout, "out.img", 0, 0, NULL));
  xorder_layout_free(layout);
  xorder_permutation_free(p);
  CHECK(remove("in.any") == 0);
}

// Three rows, stacked along the last axis, which is a transposition, and concatenated along the only one.
static void test_joined(void) {
  enum { n = 40 };
  unsigned char rows[3][n], out[3 * n + 1];
  const uint64_t shape[] = {n, 3}, line[] = {3 * n - 1}, row[] = {n}, less[] = {n - 1};
  const int kept[] = {0, 1};
  xorder_permutation *stack, *chain;
  const xorder_layout* layouts[3];
  xorder_layout* made;
  xorder_job* job;
  FILE* stream;
  int i, k;
  for (i = 0; i < 3 * n; ++i) rows[i / n][i % n] = (unsigned char)random_below(256);
  for (k = 0; k < 3; ++k) {
    char name[] = "in0.any";
    name[2] = (char)('0' + k);
    write_bytes(name, rows[k], n);
    OK(xorder_layout_strided(&made, name, 0, "u1", 1, row, NULL));
    layouts[k] = made;
  }
  OK(xorder_permutation_axes(&stack, 2, shape, kept, 1));
  OK(xorder_job_joined(&job, stack, 1, -1, layouts, 3, "out.raw", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  stream = fopen("out.raw", "rb");
  CHECK(stream != NULL && fread(out, 1, sizeof out, stream) == 3 * n && fclose(stream) == 0);
  for (i = 0; i < 3 * n; ++i) CHECK(out[i] == rows[i % 3][i / 3]);
  CHECK(remove("out.raw") == 0);

  FAILS(XORDER_ERROR_INPUT, "stack: there is no axis 2",
        xorder_job_joined(&job, stack, 1, 2, layouts, 3, "out.raw", NULL));
  FAILS(XORDER_ERROR_INPUT, "in0.any and the other inputs: has the shape (120)",
        xorder_job_joined(&job, stack, 0, 0, layouts, 3, "out.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "no inputs",
        xorder_job_joined(&job, stack, 1, 0, layouts, 0, "out.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "inputs is NULL",
        xorder_job_joined(&job, stack, 1, 0, NULL, 3, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL",
        xorder_job_joined(&job, NULL, 1, 0, layouts, 3, "out.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL",
        xorder_job_joined(&job, stack, 1, 0, layouts, 3, NULL, NULL));

  made = (xorder_layout*)layouts[1];
  xorder_layout_free(made);
  OK(xorder_layout_strided(&made, "in1.any", 0, "u1", 1, less, NULL));
  layouts[1] = made;
  FAILS(XORDER_ERROR_INPUT, "in1.any: its shape is (39), that of in0.any (40)",
        xorder_job_joined(&job, stack, 1, 1, layouts, 3, "out.raw", NULL));
  OK(xorder_permutation_axes(&chain, 1, line, NULL, 1));
  OK(xorder_job_joined(&job, chain, 0, 0, layouts, 3, "out.raw", NULL));
  xorder_layout_free(made);  // the job does not need it
  layouts[1] = NULL;
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  stream = fopen("out.raw", "rb");
  CHECK(stream != NULL && fread(out, 1, sizeof out, stream) == 3 * n - 1 && fclose(stream) == 0);
  CHECK(memcmp(out, rows, 2 * n - 1) == 0 && memcmp(out + 2 * n - 1, rows[2], n) == 0);
  FAILS(XORDER_ERROR_ARGUMENT, "an input is NULL",
        xorder_job_joined(&job, chain, 0, 0, layouts, 3, "out.raw", NULL));
  xorder_permutation_free(stack);
  xorder_permutation_free(chain);
  for (k = 0; k < 3; ++k) {
    char name[] = "in0.any";
    name[2] = (char)('0' + k);
    xorder_layout_free((xorder_layout*)layouts[k]);
    CHECK(remove(name) == 0);
  }
  CHECK(remove("out.raw") == 0);
}

void test_layouts(void) {
  test_strided();
  test_into();
  test_types();
  test_layout_errors();
  test_verify();
  test_joined();
  test_checksum();
  test_raw_output();
}
