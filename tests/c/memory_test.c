// Permuting in memory: the bytes, in place, from several threads, and errors.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xorder.h>

#include "check.h"

static unsigned char* noise(uint64_t bytes) {
  unsigned char* array = malloc((size_t)bytes + 1);
  uint64_t i;
  for (i = 0; i < bytes; ++i) array[i] = (unsigned char)random_below(256);
  return array;
}

// Whether `target` is what the permutation makes of `source`.
static int is_permuted(const xorder_permutation* p, const unsigned char* source, const unsigned char* target,
                       uint64_t element_bytes) {
  const uint64_t elements = xorder_permutation_bytes(p) / element_bytes;
  uint64_t x;
  for (x = 0; x < elements; ++x) {
    const uint64_t y = xorder_permutation_target(p, x);
    if (memcmp(source + x * element_bytes, target + y * element_bytes, element_bytes) != 0) return 0;
  }
  return 1;
}

static void check_plan(xorder_permutation* p, uint64_t element_bytes) {
  const uint64_t bytes = xorder_permutation_bytes(p);
  unsigned char *source = noise(bytes), *target = noise(bytes);
  xorder_plan* plan;
  int threads;
  OK(xorder_plan_create(&plan, p));
  CHECK(xorder_plan_text(plan)[0] != '\0');
  for (threads = 0; threads <= 2; ++threads) {
    memset(target, 0, (size_t)bytes);
    OK(xorder_plan_execute(plan, source, target, threads));
    CHECK(is_permuted(p, source, target, element_bytes));
    memcpy(target, source, (size_t)bytes);
    OK(xorder_plan_execute_in_place(plan, target, threads));
    CHECK(is_permuted(p, source, target, element_bytes));
  }
  xorder_plan_free(plan);
  free(source);
  free(target);
}

static void test_bytes(void) {
  const uint64_t sizes[] = {1, 3, 8, 16}, shape[] = {17, 30, 11}, none[] = {0, 3};
  const char* const maps[] = {"identity", "bitreverse", "gray^-1 * bitreverse", "morton(2)"};
  xorder_permutation *p, *map;
  size_t i, j;
  for (i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    OK(xorder_permutation_axes(&p, 3, shape, NULL, sizes[i]));
    check_plan(p, sizes[i]);
    xorder_permutation_free(p);
    for (j = 0; j < sizeof maps / sizeof *maps; ++j) {
      const uint64_t rows[] = {3, 1024};
      OK(xorder_permutation_expression(&p, maps[j], 12, sizes[i]));
      check_plan(p, sizes[i]);
      xorder_permutation_free(p);
      OK(xorder_permutation_expression(&map, maps[j], 10, sizes[i]));
      OK(xorder_permutation_along_axis(&p, map, 2, rows, 1));
      check_plan(p, sizes[i]);
      xorder_permutation_free(p);
      xorder_permutation_free(map);
    }
  }
  OK(xorder_permutation_axes(&p, 2, none, NULL, 8));
  check_plan(p, 8);
  xorder_permutation_free(p);
}

// One plan, many threads; each with arrays and errors of its own.

enum { users = 4 };

struct user {
  int number;
  const xorder_permutation* permutation;
  const xorder_plan* plan;
  const unsigned char* source;
};

static void* use(void* argument) {
  const struct user* u = argument;
  const uint64_t bytes = xorder_permutation_bytes(u->permutation);
  unsigned char* target = malloc((size_t)bytes);
  char expected[40];
  int i;
  CHECK(strcmp(xorder_last_error(), "") == 0);
  CHECK(xorder_plan_execute(u->plan, u->source, target, -100 - u->number) == XORDER_ERROR_ARGUMENT);
  for (i = 0; i < 3; ++i) {
    memset(target, 0, (size_t)bytes);
    OK(xorder_plan_execute(u->plan, u->source, target, u->number % 3));
    CHECK(memcmp(target, u->source, (size_t)bytes) != 0);
    CHECK(is_permuted(u->permutation, u->source, target, 8));
  }
  snprintf(expected, sizeof expected, "-%d threads", 100 + u->number);
  CHECK(strstr(xorder_last_error(), expected) != NULL);
  free(target);
  return NULL;
}

static void test_threads(void) {
  const uint64_t shape[] = {500, 600};  // more than 2 MiB: several threads each
  xorder_permutation* p;
  xorder_plan* plan;
  pthread_t threads[users];
  struct user who[users];
  unsigned char* source;
  int i;
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 8));
  OK(xorder_plan_create(&plan, p));
  source = noise(xorder_permutation_bytes(p));
  for (i = 0; i < users; ++i) {
    who[i].number = i;
    who[i].permutation = p;
    who[i].plan = plan;
    who[i].source = source;
    CHECK(pthread_create(&threads[i], NULL, use, &who[i]) == 0);
  }
  for (i = 0; i < users; ++i) pthread_join(threads[i], NULL);
  free(source);
  xorder_plan_free(plan);
  xorder_permutation_free(p);
}

// A part of a matrix of doubles goes into a part of another one, transposed and upside down.
static void test_strides(void) {
  enum { rows = 40, columns = 30, pitch = 50 };
  static double from[rows * pitch], to[columns * pitch];
  const uint64_t shape[] = {rows, columns};
  const int64_t source_strides[] = {-8 * pitch, 8}, target_strides[] = {8 * pitch, 8}, zero[] = {0, 8};
  xorder_permutation *p, *map;
  xorder_plan* plan;
  int i, j;
  for (i = 0; i < rows * pitch; ++i) from[i] = i;
  for (i = 0; i < columns * pitch; ++i) to[i] = -1;
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 8));
  OK(xorder_plan_create_strided(&plan, p, source_strides, target_strides));
  OK(xorder_plan_execute(plan, from + (rows - 1) * pitch, to, 1));
  for (i = 0; i < columns; ++i) {
    for (j = 0; j < pitch; ++j) CHECK(to[i * pitch + j] == (j < rows ? (rows - 1 - j) * pitch + i : -1));
  }
  FAILS(XORDER_ERROR_ARGUMENT, "overlap", xorder_plan_execute(plan, from + (rows - 1) * pitch, from, 1));
  FAILS(XORDER_ERROR_INPUT, "in place", xorder_plan_execute_in_place(plan, from, 1));
  xorder_plan_free(plan);
  xorder_permutation_free(p);

  // Two columns of a matrix beside two others of it; and the same without strides.
  OK(xorder_permutation_axes(&p, 2, (const uint64_t[]){rows, 2}, (const int[]){0, 1}, 8));
  OK(xorder_plan_create_strided(&plan, p, target_strides, target_strides));
  OK(xorder_plan_execute(plan, from, from + 2, 1));
  for (i = 0; i < rows; ++i)
    CHECK(from[i * pitch + 3] == i * pitch + 1 && from[i * pitch + 4] == i * pitch + 4);
  FAILS(XORDER_ERROR_ARGUMENT, "overlap", xorder_plan_execute(plan, from, from + 1, 1));
  xorder_plan_free(plan);
  OK(xorder_plan_create_strided(&plan, p, NULL, NULL));
  OK(xorder_plan_execute(plan, from, to, 1));
  CHECK(memcmp(from, to, 2 * rows * sizeof *from) == 0);
  xorder_plan_free(plan);
  FAILS(XORDER_ERROR_INPUT, "a step along axis 0 is 0 bytes",
        xorder_plan_create_strided(&plan, p, zero, NULL));
  FAILS(XORDER_ERROR_INPUT, "a target of shape", xorder_plan_create_strided(&plan, p, NULL, zero));
  CHECK(plan == NULL);
  OK(xorder_permutation_expression(&map, "gray", 5, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "is a map", xorder_plan_create_strided(&plan, map, NULL, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL", xorder_plan_create_strided(&plan, NULL, NULL, NULL));
  xorder_permutation_free(map);
  xorder_permutation_free(p);
}

static void test_plan_errors(void) {
  static char garbage, array[64];
  xorder_permutation* p;
  xorder_plan* plan = (void*)&garbage;
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL", xorder_plan_create(&plan, NULL));
  CHECK(plan == NULL);
  OK(xorder_permutation_expression(&p, "gray", 5, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "out is NULL", xorder_plan_create(NULL, p));
  OK(xorder_plan_create(&plan, p));
  FAILS(XORDER_ERROR_ARGUMENT, "plan is NULL", xorder_plan_execute(NULL, array, array + 32, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "source is NULL", xorder_plan_execute(plan, NULL, array, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "target is NULL", xorder_plan_execute(plan, array, NULL, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "overlap", xorder_plan_execute(plan, array, array, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "overlap", xorder_plan_execute(plan, array, array + 31, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "overlap", xorder_plan_execute(plan, array + 31, array, 1));
  OK(xorder_plan_execute(plan, array, array + 32, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "1025 threads", xorder_plan_execute(plan, array, array + 32, 1025));
  FAILS(XORDER_ERROR_ARGUMENT, "plan is NULL", xorder_plan_execute_in_place(NULL, array, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "array is NULL", xorder_plan_execute_in_place(plan, NULL, 1));
  FAILS(XORDER_ERROR_ARGUMENT, "-1 threads", xorder_plan_execute_in_place(plan, array, -1));
  CHECK(xorder_last_errno() == 0);
  CHECK(strcmp(xorder_plan_text(NULL), "") == 0);
  xorder_plan_free(plan);
  xorder_plan_free(NULL);
  xorder_permutation_free(p);
}

// 12 x 2^58 bytes are more than any address space has; sanitizers end the program where malloc would fail.
static void test_no_memory(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static char array[64];
  xorder_permutation* p;
  xorder_plan* plan;
  OK(xorder_permutation_expression(&p, "shuffle", 58, 12)); /* in place it takes a second array */
  OK(xorder_plan_create(&plan, p));
  FAILS(XORDER_ERROR_MEMORY, "out of memory", xorder_plan_execute_in_place(plan, array, 1));
  CHECK(xorder_last_errno() == ENOMEM);
  xorder_plan_free(plan);
  xorder_permutation_free(p);
#endif
}

void test_memory(void) {
  test_bytes();
  test_threads();
  test_strides();
  test_plan_errors();
  test_no_memory();
}
