// Jobs from file to file: the bytes, the plan, progress, cancelling, options and errors.
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xorder.h>

#include "check.h"

static char garbage;

// -- Files ------------------------------------------------------------------------------------------------

static void write_file(const char* path, const void* head, size_t head_bytes, const void* data,
                       size_t bytes) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(head, 1, head_bytes, file) == head_bytes &&
        fwrite(data, 1, bytes, file) == bytes);
  CHECK(fclose(file) == 0);
}

// The file's bytes, which are so many; the caller frees them.
static unsigned char* read_file(const char* path, size_t bytes) {
  unsigned char* data = calloc(bytes + 1, 1);
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL && fread(data, 1, bytes + 1, file) == bytes);
  if (file != NULL) fclose(file);
  return data;
}

static int exists(const char* path) { return access(path, F_OK) == 0; }

// How many files there are; what a failed run leaves behind would be one more.
static int files_here(void) {
  int count = 0;
  DIR* directory = opendir(".");
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static unsigned char* noise(size_t bytes) {
  unsigned char* data = malloc(bytes);
  size_t i;
  for (i = 0; i < bytes; ++i) data[i] = (unsigned char)random_below(256);
  return data;
}

static xorder_permutation* transposition(uint64_t rows, uint64_t columns, uint64_t element_bytes) {
  uint64_t shape[2];
  xorder_permutation* p;
  shape[0] = rows;
  shape[1] = columns;
  OK(xorder_permutation_axes(&p, 2, shape, NULL, element_bytes));
  return p;
}

static void check_permuted(const xorder_permutation* p, const unsigned char* in, const unsigned char* out,
                           size_t element_bytes) {
  const uint64_t elements = xorder_permutation_bytes(p) / element_bytes;
  uint64_t x;
  for (x = 0; x < elements; ++x) {
    if (memcmp(in + x * element_bytes, out + xorder_permutation_target(p, x) * element_bytes,
               element_bytes) != 0) {
      CHECK(!"an element is in the wrong place");
      return;
    }
  }
}

// -- Raw files --------------------------------------------------------------------------------------------

static void test_raw(const int access_mode, const size_t in_offset, const size_t out_offset) {
  const uint64_t rows = 301, columns = 211;
  const size_t bytes = (size_t)(rows * columns * 8);
  unsigned char *in = noise(in_offset + bytes), *out;
  xorder_permutation* p = transposition(rows, columns, 8);
  xorder_options options = {0};
  xorder_job* job;
  size_t i;
  options.size = sizeof options;
  options.memory = 16 << 20;
  options.threads = 2;
  options.access = access_mode;
  options.overwrite = 1;
  options.device = "ssd";
  write_file("in.raw", in, in_offset, in + in_offset, bytes);
  OK(xorder_job_raw(&job, p, "in.raw", in_offset, "out.raw", out_offset, &options));
  xorder_permutation_free(p);  // the job does not need it
  OK(xorder_job_run(job, NULL, NULL));
  OK(xorder_job_run(job, NULL, NULL));  // again
  CHECK(strstr(xorder_job_report_json(job), "\"bytes\":508088,") != NULL);
  xorder_job_free(job);

  p = transposition(rows, columns, 8);
  out = read_file("out.raw", out_offset + bytes);
  for (i = 0; i < out_offset; ++i) CHECK(out[i] == 0);
  check_permuted(p, in + in_offset, out + out_offset, 8);
  CHECK(remove("in.raw") == 0 && remove("out.raw") == 0);
  xorder_permutation_free(p);
  free(in);
  free(out);
}

// Data that begin like an .npy file are still raw where the caller says so.
static void test_raw_is_raw(void) {
  const char data[] = "\x93NUMPY\1\0, but not so";
  const size_t bytes = sizeof data;
  xorder_permutation* p;
  xorder_job* job;
  unsigned char* out;
  const uint64_t shape[] = {sizeof data};
  OK(xorder_permutation_axes(&p, 1, shape, NULL, 1));
  write_file("in.raw", data, 0, data, bytes);
  OK(xorder_job_raw(&job, p, "in.raw", 0, "out.raw", 0, NULL));
  OK(xorder_job_run(job, NULL, NULL));
  out = read_file("out.raw", bytes);
  CHECK(memcmp(data, out, bytes) == 0);
  free(out);
  xorder_job_free(job);
  CHECK(remove("in.raw") == 0 && remove("out.raw") == 0);
  xorder_permutation_free(p);
}

// -- .npy files -------------------------------------------------------------------------------------------

enum { npy_header = 128 };

static void npy_text(char* header, const char* type, const char* fortran, const char* shape) {
  char text[npy_header];
  const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type,
                              fortran, shape);
  memset(header, ' ', npy_header);
  memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
  memcpy(header + 10, text, (size_t)length);
  header[npy_header - 1] = '\n';
}

// Checks that the file is an .npy file with this in its header and so many bytes of data, which are the
// permuted `in`.
static void check_npy(const char* path, const char* text, const xorder_permutation* p,
                      const unsigned char* in, size_t element_bytes) {
  const size_t bytes = (size_t)xorder_permutation_bytes(p);
  unsigned char start[10] = "", *file;
  FILE* stream = fopen(path, "rb");
  size_t begin;
  CHECK(stream != NULL && fread(start, 1, sizeof start, stream) == sizeof start);
  if (stream != NULL) fclose(stream);
  CHECK(memcmp(start, "\x93NUMPY\1\0", 8) == 0);
  begin = sizeof start + start[8] + 256u * start[9];
  file = read_file(path, begin + bytes);
  file[begin - 1] = '\0';
  CHECK(strstr((char*)file + sizeof start, text) != NULL);
  check_permuted(p, in, file + begin, element_bytes);
  free(file);
}

static void test_npy(void) {
  enum { rows = 20, columns = 30, bytes = rows * columns * 4 };
  char header[npy_header];
  unsigned char *in = noise(bytes), *out;
  uint64_t shape[XORDER_MAX_RANK], element_bytes = 0;
  int rank = 0;
  xorder_permutation* p;
  xorder_job* job;

  npy_text(header, "<i4", "False", "(20, 30)");
  write_file("in.npy", header, npy_header, in, bytes);
  OK(xorder_npy_shape("in.npy", &rank, shape, &element_bytes));
  CHECK(rank == 2 && shape[0] == rows && shape[1] == columns && element_bytes == 4);
  OK(xorder_npy_shape("in.npy", NULL, NULL, NULL));
  OK(xorder_permutation_axes(&p, rank, shape, NULL, element_bytes));
  OK(xorder_job_npy(&job, p, "in.npy", "out.npy", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  check_npy("out.npy", "'descr': '<i4', 'fortran_order': False, 'shape': (30, 20)", p, in, 4);

  // In Fortran order, storing the transposed array in C order moves nothing.
  npy_text(header, "<i4", "True", "(20, 30)");
  write_file("in.npy", header, npy_header, in, bytes);
  OK(xorder_job_npy(&job, p, "in.npy", "out.raw", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  out = read_file("out.raw", bytes);
  CHECK(memcmp(in, out, bytes) == 0);
  free(out);
  xorder_permutation_free(p);

  // A map of the flat index keeps the shape.
  npy_text(header, "<f8", "False", "(4, 8, 8)");
  write_file("in.npy", header, npy_header, in, 256 * 8);
  OK(xorder_permutation_expression(&p, "bitreverse", 8, 8));
  CHECK(remove("out.npy") == 0 && remove("out.raw") == 0);
  OK(xorder_job_npy(&job, p, "in.npy", "out.npy", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  check_npy("out.npy", "'shape': (4, 8, 8)", p, in, 8);

  // A raw input may become an .npy file.
  write_file("in.raw", in, 0, in, 256 * 8);
  CHECK(remove("out.npy") == 0);
  OK(xorder_job_raw(&job, p, "in.raw", 0, "out.npy", 0, NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  check_npy("out.npy", "'descr': '|V8'", p, in, 8);

  FAILS(XORDER_ERROR_INPUT, "offset", xorder_job_raw(&job, p, "in.raw", 0, "other.npy", 64, NULL));
  FAILS(XORDER_ERROR_INPUT, "not an .npy file", xorder_job_npy(&job, p, "in.raw", "other.npy", NULL));
  FAILS(XORDER_ERROR_INPUT, "not an .npy file", xorder_npy_shape("in.raw", &rank, shape, &element_bytes));
  FAILS(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_npy_shape(NULL, &rank, shape, &element_bytes));
  FAILS(XORDER_ERROR_INPUT, ".tif means a TIFF file", xorder_job_npy(&job, p, "in.npy", "other.tif", NULL));
  FAILS(XORDER_ERROR_INPUT, ".tif means a TIFF file",
        xorder_job_raw(&job, p, "in.raw", 0, "other.tif", 0, NULL));
  OK(xorder_job_raw(&job, p, "in.raw", 0, "other.h5", 64, NULL));  // behind a header that the caller writes
  xorder_job_free(job);
  xorder_permutation_free(p);
  OK(xorder_permutation_expression(&p, "morton(2)", 8, 8));  // as many bytes, but not 16 x 16
  FAILS(XORDER_ERROR_INPUT, "expected an array of one axis or of shape (16, 16), found (4, 8, 8)",
        xorder_job_npy(&job, p, "in.npy", "other.npy", NULL));
  xorder_permutation_free(p);
  p = transposition(8, 32, 8);  // as many bytes, but another shape
  FAILS(XORDER_ERROR_INPUT, "has the shape (4, 8, 8) of 8-byte elements, but the permutation is for (8, 32)",
        xorder_job_npy(&job, p, "in.npy", "other.npy", NULL));
  xorder_permutation_free(p);
  OK(xorder_permutation_expression(&p, "bitreverse", 9, 4));  // other elements
  FAILS(XORDER_ERROR_INPUT, "of 4-byte elements", xorder_job_npy(&job, p, "in.npy", "other.npy", NULL));
  xorder_permutation_free(p);
  CHECK(remove("in.npy") == 0 && remove("in.raw") == 0 && remove("out.npy") == 0);
  free(in);
}

static void test_transpose_file(void) {
  enum { bytes = 2 * 3 * 5 * 4 };
  const uint64_t shape[] = {2, 3, 5};
  const int axes[] = {1, -1, 0}, twice[] = {1, 1, 0};
  char header[npy_header];
  unsigned char* in = noise(bytes);
  xorder_options options = {0};
  xorder_permutation* p;

  npy_text(header, "<i4", "False", "(2, 3, 5)");
  write_file("in.npy", header, npy_header, in, bytes);
  OK(xorder_transpose_file("in.npy", "out.npy", 3, axes, NULL));
  OK(xorder_permutation_axes(&p, 3, shape, axes, 4));
  check_npy("out.npy", "'descr': '<i4', 'fortran_order': False, 'shape': (3, 5, 2)", p, in, 4);
  xorder_permutation_free(p);

  FAILS(XORDER_ERROR_INPUT, "exists", xorder_transpose_file("in.npy", "out.npy", 3, axes, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "options.size is 0",
        xorder_transpose_file("in.npy", "o.npy", 0, NULL, &options));
  options.size = sizeof options;
  options.overwrite = 1;
  OK(xorder_transpose_file("in.npy", "out.npy", 0, NULL, &options));
  OK(xorder_permutation_axes(&p, 3, shape, NULL, 4));
  check_npy("out.npy", "'shape': (5, 3, 2)", p, in, 4);
  xorder_permutation_free(p);

  FAILS(XORDER_ERROR_INPUT, "axes", xorder_transpose_file("in.npy", "o.npy", 3, twice, NULL));
  FAILS(XORDER_ERROR_INPUT, "axes", xorder_transpose_file("in.npy", "o.npy", 2, axes, NULL));
  FAILS(XORDER_ERROR_INPUT, "missing.npy", xorder_transpose_file("missing.npy", "o.npy", 0, NULL, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "expected 0 to 64", xorder_transpose_file("in.npy", "o.npy", 65, axes, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_transpose_file(NULL, "o.npy", 0, NULL, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_transpose_file("in.npy", NULL, 0, NULL, NULL));
  CHECK(remove("in.npy") == 0 && remove("out.npy") == 0);
  free(in);
}

// -- Computations -----------------------------------------------------------------------------------------

// Prefix sums: nothing is 2^b before the first 2^b elements.
static void sum_step(int b, uint64_t first, uint64_t count, const void* x, const void* plus,
                     const void* minus, void* out, void* user) {
  const uint32_t *self = x, *before = minus;
  uint64_t k;
  (void)plus;
  for (k = 0; k < count; ++k)
    ((uint32_t*)out)[k] = self[k] + ((first + k) >> b == 0 ? 0 : before[k] * *(const uint32_t*)user);
}

// Of all that it is given; in another order of b it makes something else.
static void mixing_step(int b, uint64_t first, uint64_t count, const void* x, const void* plus,
                        const void* minus, void* out, void* user) {
  const uint32_t *self = x, *after = plus, *before = minus;
  uint64_t k;
  (void)user;
  for (k = 0; k < count; ++k)
    ((uint32_t*)out)[k] = self[k] * (uint32_t)(first + k) + after[k] + 3 * before[k] + (uint32_t)b;
}

static void test_direction(int ascends, const uint32_t* in) {
  enum { n = 12, count = 1 << n };
  uint32_t a[count], next[count];
  unsigned char* file;
  xorder_job* job;
  int k, i;

  OK(xorder_job_descend(&job, ascends, mixing_step, NULL, "in.npy", "out.raw", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  file = read_file("out.raw", sizeof a);
  memcpy(a, in, sizeof a);
  for (k = 0; k < n; ++k) {
    const int b = ascends ? k : n - 1 - k, far = 1 << b;
    for (i = 0; i < count; ++i)
      next[i] = a[i] * (uint32_t)i + a[(i + far) % count] + 3 * a[(i - far + count) % count] + (uint32_t)b;
    memcpy(a, next, sizeof a);
  }
  CHECK(memcmp(file, a, sizeof a) == 0);
  free(file);
  CHECK(remove("out.raw") == 0);
}

static void test_descend(void) {
  enum { count = 1 << 12, bytes = count * 4 };
  char header[npy_header];
  uint32_t *in = (uint32_t*)noise(bytes), *out, one = 1, sum = 0;
  unsigned char* file;
  xorder_job* job;
  int i;

  npy_text(header, "<u4", "False", "(4096,)");
  write_file("in.npy", header, npy_header, in, bytes);
  OK(xorder_job_descend(&job, 1, sum_step, &one, "in.npy", "out.raw", NULL));
  OK(xorder_job_run(job, NULL, NULL));
  CHECK(strstr(xorder_job_report_json(job), "\"seconds\"") != NULL);
  xorder_job_free(job);
  file = read_file("out.raw", bytes);
  out = (uint32_t*)file;
  for (i = 0; i < count; ++i) CHECK(out[i] == (sum += in[i]));
  free(file);
  CHECK(remove("out.raw") == 0);
  test_direction(0, in);
  test_direction(1, in);
  FAILS(XORDER_ERROR_ARGUMENT, "step is NULL",
        xorder_job_descend(&job, 1, NULL, NULL, "in.npy", "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL",
        xorder_job_descend(&job, 1, sum_step, &one, "in.npy", NULL, NULL));
  npy_text(header, "<u4", "False", "(4095,)");
  write_file("in.npy", header, npy_header, in, bytes - 4);
  FAILS(XORDER_ERROR_INPUT, "the number of elements",
        xorder_job_descend(&job, 0, sum_step, &one, "in.npy", "o.raw", NULL));
  CHECK(remove("in.npy") == 0);
  free(in);
}

static int failing_step(int b, uint64_t first, uint64_t count, const void* x, const void* plus,
                        const void* minus, void* out, void* user) {
  sum_step(b, first, count, x, plus, minus, out, user);
  return b == 3;
}

static int good_step(int b, uint64_t first, uint64_t count, const void* x, const void* plus,
                     const void* minus, void* out, void* user) {
  sum_step(b, first, count, x, plus, minus, out, user);
  return 0;
}

// What the job makes, as so many bytes.
static unsigned char* result_of(xorder_job* job, size_t bytes) {
  unsigned char* file;
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  file = read_file("out.raw", bytes);
  CHECK(remove("out.raw") == 0);
  return file;
}

static void test_computations(void) {
  enum { count = 1 << 10, bytes = count * 4 };
  const uint64_t shape[] = {count}, odd[] = {count - 7};
  uint32_t *in = (uint32_t*)noise(bytes), *out, one = 1, sum = 0;
  float rows[4][count];
  const xorder_layout* four[4];
  xorder_layout *all, *some, *row;
  xorder_job* job;
  int i, k, before;

  write_file("in.raw", in, 0, in, bytes);
  before = files_here();
  OK(xorder_layout_strided(&all, "in.raw", 0, "u4", 1, shape, NULL));
  OK(xorder_layout_strided(&some, "in.raw", 0, "u4", 1, odd, NULL));
  OK(xorder_job_compute(&job, 1, failing_step, &one, all, "out.raw", NULL));
  FAILS(XORDER_ERROR_CANCELLED, "", xorder_job_run(job, NULL, NULL));
  CHECK(files_here() == before);
  xorder_job_free(job);
  OK(xorder_job_compute(&job, 1, good_step, &one, all, "out.raw", NULL));
  out = (uint32_t*)result_of(job, bytes);
  for (i = 0; i < count; ++i) CHECK(out[i] == (sum += in[i]));
  free(out);
  OK(xorder_job_scan(&job, "sum", some, "out.raw", NULL));
  out = (uint32_t*)result_of(job, bytes - 28);
  for (sum = 0, i = 0; i < count - 7; ++i) CHECK(out[i] == (sum += in[i]));
  free(out);
  for (k = -2; k < 3; ++k) {
    const int64_t distance = k * (int64_t)(count - 7) * 1000 + 5 * k;
    OK(xorder_job_shift(&job, distance, some, "out.raw", NULL));
    out = (uint32_t*)result_of(job, bytes - 28);
    for (i = 0; i < count - 7; ++i) CHECK(out[(i + 5 * k + count - 7) % (count - 7)] == in[i]);
    free(out);
  }
  OK(xorder_job_merge(&job, all, "out.raw", NULL));
  FAILS(XORDER_ERROR_INPUT, "in.raw", xorder_job_run(job, NULL, NULL));  // the halves are noise
  CHECK(files_here() == before);
  xorder_job_free(job);
  xorder_layout_free(all);
  for (i = 0; i < count; ++i) in[i] = (uint32_t)(i < count / 2 ? 3 * i : 2 * (i - count / 2) + 1);
  write_file("in.raw", in, 0, in, bytes);
  OK(xorder_layout_strided(&all, "in.raw", 0, "u4", 1, shape, NULL));
  OK(xorder_job_merge(&job, all, "out.raw", NULL));
  out = (uint32_t*)result_of(job, bytes);
  for (i = 1; i < count; ++i) CHECK(out[i - 1] <= out[i]);
  free(out);

  // A x = d for the x of all 1.
  for (i = 0; i < count; ++i) {
    rows[0][i] = rows[2][i] = 1;
    rows[1][i] = 4;
    rows[3][i] = i == 0 || i == count - 1 ? 5 : 6;
  }
  for (k = 0; k < 4; ++k) {
    char name[] = "row0.raw";
    name[3] = (char)('0' + k);
    write_file(name, rows[k], 0, rows[k], sizeof rows[k]);
    OK(xorder_layout_strided(&row, name, 0, "f4", 1, shape, NULL));
    four[k] = row;
  }
  OK(xorder_job_tridiagonal(&job, four, "out.raw", NULL));
  out = (uint32_t*)result_of(job, bytes);
  for (i = 0; i < count; ++i) CHECK(((float*)out)[i] > 0.999f && ((float*)out)[i] < 1.001f);
  free(out);

  FAILS(XORDER_ERROR_ARGUMENT, "step is NULL", xorder_job_compute(&job, 1, NULL, NULL, all, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL",
        xorder_job_compute(&job, 1, good_step, NULL, NULL, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_job_compute(&job, 1, good_step, 0, all, NULL, NULL));
  FAILS(XORDER_ERROR_INPUT, "the number of elements",
        xorder_job_compute(&job, 1, good_step, NULL, some, "o.raw", NULL));
  FAILS(XORDER_ERROR_INPUT, "mean", xorder_job_scan(&job, "mean", all, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "operation is NULL", xorder_job_scan(&job, NULL, all, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_scan(&job, "sum", NULL, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_job_shift(&job, 1, all, NULL, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_shift(&job, 1, NULL, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_merge(&job, NULL, "o.raw", NULL));
  FAILS(XORDER_ERROR_INPUT, "the number of elements", xorder_job_merge(&job, some, "o.raw", NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "inputs is NULL", xorder_job_tridiagonal(&job, NULL, "o.raw", NULL));
  for (k = 0; k < 4; ++k) {
    char name[] = "row0.raw";
    name[3] = (char)('0' + k);
    xorder_layout_free((xorder_layout*)four[k]);
    CHECK(remove(name) == 0);
  }
  four[0] = NULL;
  FAILS(XORDER_ERROR_ARGUMENT, "an input is NULL", xorder_job_tridiagonal(&job, four, "o.raw", NULL));
  xorder_layout_free(all);
  xorder_layout_free(some);
  CHECK(remove("in.raw") == 0);
  free(in);
}

// -- Plans, progress, cancelling --------------------------------------------------------------------------

struct watch {
  pthread_t thread;
  uint64_t last;
  int calls, last_pass, done;
  int stop_at;  // the call that asks for the end; 0: none
};

static int watch(const xorder_progress* progress, void* user) {
  struct watch* w = user;
  ++w->calls;
  CHECK(pthread_equal(pthread_self(), w->thread));
  CHECK(progress->bytes_done >= w->last && progress->bytes_done <= progress->bytes_total);
  CHECK(progress->pass >= 1 && progress->pass >= w->last_pass && progress->pass <= progress->passes);
  w->last = progress->bytes_done;
  w->last_pass = progress->pass;
  w->done = progress->bytes_done == progress->bytes_total;
  return w->calls == w->stop_at;
}

// A bit reversal that needs several passes on a disk on which only large requests are worth anything.
static void test_run(void) {
  const char profile[] = "{\"points\": [[1048576, 1e6, 1e6]]}";
  const int n = 22;
  const size_t bytes = (size_t)4 << n;
  unsigned char *in = noise(bytes), *out;
  struct watch w = {0};
  xorder_options options = {0};
  xorder_permutation* p;
  xorder_job* job;
  int before;

  write_file("in.raw", in, 0, in, bytes);
  write_file("disk.json", profile, 0, profile, sizeof profile - 1);
  OK(xorder_permutation_expression(&p, "bitreverse", n, 4));
  options.size = sizeof options;
  options.memory = 16 << 20;
  options.device = "disk.json";
  options.scratch_directory = ".";
  before = files_here();
  OK(xorder_job_raw(&job, p, "in.raw", 0, "out.raw", 100, &options));
  CHECK(strstr(xorder_job_plan_text(job), "pass 2: ") != NULL);
  CHECK(strstr(xorder_job_plan_json(job), "\"passes\":2,") != NULL);
  CHECK(strstr(xorder_job_plan_json(job), "\"memory\":16777216,") != NULL);
  CHECK(strcmp(xorder_job_report_json(job), "") == 0);
  CHECK(strcmp(xorder_job_note(job), "") == 0);
  CHECK(files_here() == before);

  w.thread = pthread_self();
  w.stop_at = 3;
  FAILS(XORDER_ERROR_CANCELLED, "", xorder_job_run(job, watch, &w));
  CHECK(w.calls >= 3 && !w.done);
  CHECK(strcmp(xorder_job_report_json(job), "") == 0);
  CHECK(files_here() == before);

  memset(&w, 0, sizeof w);
  w.thread = pthread_self();
  OK(xorder_job_run(job, watch, &w));
  CHECK(w.calls > 10 && w.done && w.last_pass == 2);
  CHECK(strstr(xorder_job_report_json(job), "\"passes\":2,") != NULL);
  CHECK(files_here() == before + 1);
  out = read_file("out.raw", 100 + bytes);
  check_permuted(p, in, out + 100, 4);

  FAILS(XORDER_ERROR_INPUT, "out.raw: exists", xorder_job_run(job, NULL, NULL));
  CHECK(xorder_last_errno() == EEXIST);
  CHECK(strcmp(xorder_job_report_json(job), "") == 0);
  CHECK(files_here() == before + 1);

  CHECK(remove("out.raw") == 0);
  write_file("in.raw", in, 4, in, bytes - 4);  // the same size, another time of change
  FAILS(XORDER_ERROR_IO, "changed", xorder_job_run(job, NULL, NULL));
  CHECK(files_here() == before);
  xorder_job_free(job);
  xorder_permutation_free(p);
  CHECK(remove("in.raw") == 0 && remove("disk.json") == 0);
  free(in);
  free(out);
}

// -- Runs that go on --------------------------------------------------------------------------------------

struct half {
  int pass;
};

// Ends the run when half of it is done, or when this pass begins.
static int stop_half(const xorder_progress* progress, void* user) {
  const struct half* half = user;
  return half->pass != 0 ? progress->pass == half->pass : progress->bytes_done * 2 > progress->bytes_total;
}

// A square of large elements, in many parts.
static void test_in_place(void) {
  enum { side = 200, element = 512 };
  const size_t bytes = (size_t)side * side * element;
  const uint64_t shape[] = {side, side};
  unsigned char *in = noise(bytes), *out;
  struct half half = {0};
  xorder_options options = {0};
  xorder_permutation* p = transposition(side, side, element);
  xorder_layout* file;
  xorder_job *job, *other;
  char header[npy_header];
  int before, back;

  write_file("in.raw", in, 0, in, bytes);
  before = files_here();
  options.size = sizeof options;
  options.memory = 16 << 20;
  for (back = 0; back < 2; ++back) {
    OK(xorder_layout_strided(&file, "in.raw", 0, "V512", 2, shape, NULL));
    OK(xorder_job_in_place(&job, p, file, &options));
    CHECK(strstr(xorder_job_plan_text(job), "in place") != NULL && files_here() == before);
    FAILS(XORDER_ERROR_CANCELLED, "", xorder_job_run(job, stop_half, &half));
    CHECK(strstr(xorder_job_note(job), "in.raw: is half done in place") != NULL);
    CHECK(files_here() > before);
    FAILS(XORDER_ERROR_INPUT, "half done", xorder_job_layout(&other, p, file, "out.raw", NULL));
    FAILS(XORDER_ERROR_INPUT, "half done", xorder_job_in_place(&other, p, file, &options));
    xorder_job_free(job);
    OK((back ? xorder_job_roll_back : xorder_job_resume)(&job, "in.raw"));
    FAILS(XORDER_ERROR_CANCELLED, "", xorder_job_run(job, stop_half, &half));  // once more
    xorder_job_free(job);
    OK((back ? xorder_job_roll_back : xorder_job_resume)(&job, "in.raw"));
    OK(xorder_job_run(job, NULL, NULL));
    xorder_job_free(job);
    xorder_layout_free(file);
    CHECK(files_here() == before);
    out = read_file("in.raw", bytes);
    check_permuted(p, in, out, element);  // the first time it was moved, the second time it came back
    free(out);
  }
  FAILS(XORDER_ERROR_INPUT, "nothing to roll back", xorder_job_roll_back(&job, "in.raw"));
  FAILS(XORDER_ERROR_INPUT, "nothing to resume", xorder_job_resume(&job, "in.raw"));
  FAILS(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_job_roll_back(&job, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "path is NULL", xorder_job_resume(&job, NULL));
  OK(xorder_layout_strided(&file, "in.raw", 0, "V512", 2, shape, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL", xorder_job_in_place(&job, NULL, file, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "file is NULL", xorder_job_in_place(&job, p, NULL, NULL));
  options.resumable = 1;
  FAILS(XORDER_ERROR_INPUT, "a run can always be resumed", xorder_job_in_place(&job, p, file, &options));
  xorder_permutation_free(p);
  p = transposition(side, side / 2, element);
  FAILS(XORDER_ERROR_INPUT, "has the shape (200, 200)", xorder_job_in_place(&job, p, file, NULL));
  xorder_layout_free(file);
  options.resumable = 0;
  npy_text(header, "|V512", "False", "(200, 100)");
  write_file("in.npy", header, npy_header, in, bytes / 2);
  OK(xorder_layout_open(&file, "in.npy"));
  OK(xorder_job_in_place(&job, p, file, NULL));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  check_npy("in.npy", "'descr': '|V512', 'fortran_order': False, 'shape': (100, 200)", p, in, element);
  xorder_layout_free(file);
  xorder_permutation_free(p);

  OK(xorder_permutation_expression(&p, "bitreverse * shuffle", 14, element));  // no involution
  write_file("in.raw", in, 0, in, (size_t)element << 14);
  OK(xorder_layout_strided(&file, "in.raw", 0, "V512", 1, (const uint64_t[]){1 << 14}, NULL));
  OK(xorder_job_in_place(&job, p, file, &options));
  OK(xorder_job_run(job, NULL, NULL));
  xorder_job_free(job);
  out = read_file("in.raw", (size_t)element << 14);
  check_permuted(p, in, out, element);
  free(out);
  xorder_layout_free(file);
  xorder_permutation_free(p);
  CHECK(remove("in.raw") == 0 && remove("in.npy") == 0);
  free(in);
}

// A bit reversal in two passes, which ends in the second one.
static void test_resumable(void) {
  const char profile[] = "{\"points\": [[1048576, 1e6, 1e6]]}";
  const int n = 22;
  const size_t bytes = (size_t)4 << n;
  unsigned char *in = noise(bytes), *out;
  struct half second = {2};
  xorder_options options = {0};
  xorder_permutation* p;
  xorder_job* job;
  char state[2000];
  size_t length;
  int before;

  write_file("in.raw", in, 0, in, bytes);
  write_file("disk.json", profile, 0, profile, sizeof profile - 1);
  OK(xorder_permutation_expression(&p, "bitreverse", n, 4));
  options.size = sizeof options;
  options.memory = 16 << 20;
  options.device = "disk.json";
  options.resumable = 1;
  before = files_here();
  OK(xorder_job_raw(&job, p, "in.raw", 0, "out.raw", 100, &options));
  FAILS(XORDER_ERROR_CANCELLED, "", xorder_job_run(job, stop_half, &second));
  CHECK(strstr(xorder_job_note(job), "`xorder resume out.raw` goes on") != NULL);
  CHECK(files_here() > before && !exists("out.raw"));
  xorder_job_free(job);
  CHECK(remove("disk.json") == 0);  // the journal has it
  FAILS(XORDER_ERROR_INPUT, "is not in place", xorder_job_roll_back(&job, "out.raw"));
  OK(xorder_journal_json("out.raw", state, sizeof state, &length));
  CHECK(strstr(state, "\"running\":false") != NULL && strstr(state, "\"in_place\":false") != NULL);
  OK(xorder_job_resume(&job, "out.raw"));
  OK(xorder_job_run(job, NULL, NULL));
  CHECK(strstr(xorder_job_report_json(job), "\"passes\":2,") != NULL);
  CHECK(strstr(xorder_job_note(job), "goes on") == NULL);
  xorder_job_free(job);
  CHECK(files_here() == before);
  FAILS(XORDER_ERROR_INPUT, "nothing to show", xorder_journal_json("out.raw", NULL, 0, &length));
  FAILS(XORDER_ERROR_INPUT, "nothing to discard", xorder_journal_discard("out.raw"));
  out = read_file("out.raw", 100 + bytes);
  check_permuted(p, in, out + 100, 4);
  free(out);
  xorder_permutation_free(p);
  CHECK(remove("in.raw") == 0 && remove("out.raw") == 0);
  free(in);
}

// -- Options and errors -----------------------------------------------------------------------------------

static void test_options(const xorder_permutation* p) {
  xorder_options options = {0};
  xorder_job* job = (void*)&garbage;
#define BAD(status, text)                                                              \
  do {                                                                                 \
    job = (void*)&garbage;                                                             \
    FAILS(status, text, xorder_job_raw(&job, p, "in.raw", 0, "out.raw", 0, &options)); \
    CHECK(job == NULL);                                                                \
  } while (0)
  BAD(XORDER_ERROR_ARGUMENT, "options.size is 0");
  options.size = offsetof(xorder_options, device);
  BAD(XORDER_ERROR_ARGUMENT, "options.size is ");
  options.size = offsetof(xorder_options, resumable);  // as of the first version
  OK(xorder_job_raw(&job, p, "in.raw", 0, "out.raw", 0, &options));
  xorder_job_free(job);
  options.size = sizeof options + 1;  // as of a version to come
  BAD(XORDER_ERROR_ARGUMENT, "options.size is ");
  options.size = (size_t)-1;
  BAD(XORDER_ERROR_ARGUMENT, "options.size is 18446744073709551615");
  options.size = sizeof options;
  options.reserved = 1;
  BAD(XORDER_ERROR_ARGUMENT, "reserved");
  options.reserved = 0;
  options.access = 3;
  BAD(XORDER_ERROR_ARGUMENT, "access");
  options.access = XORDER_ACCESS_AUTO;
  options.threads = -1;
  BAD(XORDER_ERROR_ARGUMENT, "threads");
  options.threads = 0;
  options.memory = (16 << 20) - 1;
  BAD(XORDER_ERROR_INPUT, "memory");
  options.memory = 0;
  options.device = "nowhere.json";
  BAD(XORDER_ERROR_INPUT, "nowhere.json");
  CHECK(xorder_last_errno() == ENOENT);
  options.device = NULL;
  options.scratch_directory = "nowhere";
  BAD(XORDER_ERROR_INPUT, "nowhere");
  CHECK(xorder_last_errno() == ENOENT);
#undef BAD
}

static void test_job_errors(void) {
  const char data[8 * 8] = "";
  xorder_permutation* p = transposition(2, 4, 8);
  xorder_job* job = (void*)&garbage;
  int before;
  write_file("in.raw", data, 0, data, sizeof data);
  before = files_here();
  test_options(p);

  FAILS(XORDER_ERROR_ARGUMENT, "out is NULL", xorder_job_raw(NULL, p, "in.raw", 0, "out.raw", 0, NULL));
#define BAD(status, text, call) \
  do {                          \
    job = (void*)&garbage;      \
    FAILS(status, text, call);  \
    CHECK(job == NULL);         \
  } while (0)
  BAD(XORDER_ERROR_ARGUMENT, "permutation is NULL",
      xorder_job_raw(&job, NULL, "in.raw", 0, "out.raw", 0, NULL));
  BAD(XORDER_ERROR_ARGUMENT, "input is NULL", xorder_job_raw(&job, p, NULL, 0, "out.raw", 0, NULL));
  BAD(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_job_raw(&job, p, "in.raw", 0, NULL, 0, NULL));
  BAD(XORDER_ERROR_ARGUMENT, "output is NULL", xorder_job_npy(&job, p, "in.raw", NULL, NULL));
  BAD(XORDER_ERROR_INPUT, "nowhere.raw: ", xorder_job_raw(&job, p, "nowhere.raw", 0, "out.raw", 0, NULL));
  CHECK(xorder_last_errno() == ENOENT);
  BAD(XORDER_ERROR_INPUT, "nowhere.npy: ", xorder_job_npy(&job, p, "nowhere.npy", "out.npy", NULL));
  CHECK(xorder_last_errno() == ENOENT);
  BAD(XORDER_ERROR_INPUT, "64 bytes", xorder_job_raw(&job, p, "in.raw", 8, "out.raw", 0, NULL));
  CHECK(xorder_last_errno() == 0);
  BAD(XORDER_ERROR_INPUT, "beyond", xorder_job_raw(&job, p, "in.raw", 65, "out.raw", 0, NULL));
  write_file("there.raw", data, 0, data, 1);
  BAD(XORDER_ERROR_INPUT, "exists", xorder_job_raw(&job, p, "in.raw", 0, "there.raw", 0, NULL));
  CHECK(xorder_last_errno() == EEXIST);
  CHECK(remove("there.raw") == 0);
  BAD(XORDER_ERROR_INPUT, "no room",
      xorder_job_raw(&job, p, "in.raw", 0, "out.raw", (uint64_t)1 << 60, NULL));
  CHECK(xorder_last_errno() == ENOSPC);
  BAD(XORDER_ERROR_INPUT, "2^63", xorder_job_raw(&job, p, "in.raw", 0, "out.raw", UINT64_MAX, NULL));
  BAD(XORDER_ERROR_INPUT, "same file", xorder_job_raw(&job, p, "in.raw", 0, "in.raw", 0, NULL));
  BAD(XORDER_ERROR_INPUT, "nowhere", xorder_job_raw(&job, p, "in.raw", 0, "nowhere/out.raw", 0, NULL));
  CHECK(xorder_last_errno() == ENOENT);
#undef BAD
  FAILS(XORDER_ERROR_ARGUMENT, "job is NULL", xorder_job_run(NULL, NULL, NULL));
  CHECK(strcmp(xorder_job_plan_text(NULL), "") == 0);
  CHECK(strcmp(xorder_job_plan_json(NULL), "") == 0);
  CHECK(strcmp(xorder_job_report_json(NULL), "") == 0);
  CHECK(strcmp(xorder_job_note(NULL), "") == 0);
  xorder_job_free(NULL);
  CHECK(files_here() == before);
  CHECK(!exists("out.raw"));
  xorder_permutation_free(p);
  CHECK(remove("in.raw") == 0);
}

void test_jobs(const char* directory) {
  const size_t offsets[] = {0, 1, 4096, 100000};
  size_t i;
  int access_mode, before;
  if (chdir(directory) != 0) {
    CHECK(!"the directory for files is there");
    return;
  }
  before = files_here();
  for (access_mode = XORDER_ACCESS_AUTO; access_mode <= XORDER_ACCESS_MAPPED; ++access_mode)
    for (i = 0; i < 4; ++i) test_raw(access_mode, offsets[i], offsets[3 - i]);
  test_raw_is_raw();
  test_npy();
  test_transpose_file();
  test_descend();
  test_computations();
  test_run();
  test_in_place();
  test_resumable();
  test_job_errors();
  CHECK(files_here() == before);
}
