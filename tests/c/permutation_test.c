// Permutations: what they say that they do, against loops that are written out here.
#include <stddef.h>
#include <string.h>
#include <xorder.h>

#include "check.h"

// A pointer that is no object: functions that fail must put NULL in its place.
static char garbage;
#define GARBAGE ((void*)&garbage)

static void test_axes(void) {
  const uint64_t shape[] = {3, 4, 5};
  const int axes[] = {2, -3, 1};  // -3 is 0
  xorder_permutation* p = GARBAGE;
  uint64_t i, j, k;
  OK(xorder_permutation_axes(&p, 3, shape, axes, 7));
  CHECK(xorder_permutation_bytes(p) == 3 * 4 * 5 * 7);
  for (i = 0; i < 3; ++i)
    for (j = 0; j < 4; ++j)
      for (k = 0; k < 5; ++k) CHECK(xorder_permutation_target(p, (i * 4 + j) * 5 + k) == (k * 3 + i) * 4 + j);
  CHECK(xorder_permutation_target(p, 60) == UINT64_MAX);
  xorder_permutation_free(p);

  OK(xorder_permutation_axes(&p, 3, shape, NULL, 1));  // reversed
  CHECK(xorder_permutation_target(p, (2 * 4 + 3) * 5 + 1) == (1 * 4 + 3) * 3 + 2);
  xorder_permutation_free(p);
}

static void test_degenerate_shapes(void) {
  const uint64_t empty[] = {4, 0, 5};
  xorder_permutation* p;
  OK(xorder_permutation_axes(&p, 0, NULL, NULL, 8));  // one element without axes
  CHECK(xorder_permutation_bytes(p) == 8);
  CHECK(xorder_permutation_target(p, 0) == 0);
  xorder_permutation_free(p);
  OK(xorder_permutation_axes(&p, 3, empty, NULL, 8));
  CHECK(xorder_permutation_bytes(p) == 0);
  CHECK(xorder_permutation_target(p, 0) == UINT64_MAX);
  xorder_permutation_free(p);
  OK(xorder_permutation_bmmc(&p, 0, NULL, 0, 3));
  CHECK(xorder_permutation_bytes(p) == 3);
  xorder_permutation_free(p);
}

static void test_bmmc(void) {
  enum { n = 9 };
  uint64_t columns[n], x;
  const uint64_t complement = 0x155;
  xorder_permutation* p;
  int j;
  // Upper triangular with ones on the diagonal: nonsingular whatever stands above it.
  for (j = 0; j < n; ++j) columns[j] = ((uint64_t)1 << j) | random_below((uint64_t)1 << j);
  OK(xorder_permutation_bmmc(&p, n, columns, complement, 2));
  for (x = 0; x < (1 << n); ++x) {
    uint64_t y = complement;
    for (j = 0; j < n; ++j)
      if ((x >> j) & 1) y ^= columns[j];
    CHECK(xorder_permutation_target(p, x) == y);
  }
  xorder_permutation_free(p);
}

static uint64_t reversed(uint64_t x, int n) {
  uint64_t y = 0;
  int i;
  for (i = 0; i < n; ++i) y |= ((x >> i) & 1) << (n - 1 - i);
  return y;
}

static void test_expression(void) {
  xorder_permutation *p, *rows;
  const uint64_t shape[] = {5, 256, 3};
  uint64_t x, i, k;
  OK(xorder_permutation_expression(&p, "gray^-1 * bitreverse", 8, 4));
  for (x = 0; x < 256; ++x) {
    const uint64_t y = xorder_permutation_target(p, x);
    CHECK((y ^ (y >> 1)) == reversed(x, 8));
  }
  OK(xorder_permutation_along_axis(&rows, p, 3, shape, -2));
  CHECK(xorder_permutation_bytes(rows) == 5 * 256 * 3 * 4);
  for (i = 0; i < 5; ++i)
    for (x = 0; x < 256; ++x)
      for (k = 0; k < 3; ++k)
        CHECK(xorder_permutation_target(rows, (i * 256 + x) * 3 + k) ==
              (i * 256 + xorder_permutation_target(p, x)) * 3 + k);
  xorder_permutation_free(p);  // rows does not need it
  CHECK(xorder_permutation_target(rows, 0) == 0);
  xorder_permutation_free(rows);
}

static void test_what_is_shown(void) {
  const uint64_t shape[] = {4, 4};
  char text[4096];
  size_t length = 0;
  xorder_permutation *p, *along;
  OK(xorder_permutation_expression(&p, "xor(2) * bitreverse", 4, 8));
  OK(xorder_permutation_json(p, 0, 0, text, sizeof text, &length));
  CHECK(length == strlen(text));
  CHECK(strstr(text, "{\"bits\":4,\"columns\":[8,4,2,1],\"complement\":2,\"inverse\":") == text);
  CHECK(strstr(text, "\"rank_gamma\":[0,1,2,1,0]}") != NULL);
  OK(xorder_permutation_json(p, 4, 8, text, sizeof text, &length));
  CHECK(strstr(text, "\"block\":4,\"memory\":8,\"passes\":2,\"factors\":[{") != NULL);
  OK(xorder_permutation_json(p, 4, 0, text, sizeof text, &length));
  CHECK(strstr(text, "\"memory\":16,\"passes\":1,") != NULL);
  OK(xorder_permutation_svg(p, "mine", 4, NULL, 0, &length));
  CHECK(length > 2000);
  FAILS(XORDER_ERROR_INPUT, "memory needs block",
        xorder_permutation_json(p, 0, 8, text, sizeof text, &length));
  FAILS(XORDER_ERROR_INPUT, "block is 32, but there are only 16",
        xorder_permutation_json(p, 32, 0, text, sizeof text, &length));
  FAILS(XORDER_ERROR_INPUT, "block is 3", xorder_permutation_svg(p, "", 3, text, sizeof text, &length));
  FAILS(XORDER_ERROR_ARGUMENT, "title is NULL", xorder_permutation_svg(p, NULL, 0, text, 1, &length));
  FAILS(XORDER_ERROR_ARGUMENT, "permutation is NULL", xorder_permutation_json(NULL, 0, 0, text, 1, &length));
  OK(xorder_permutation_along_axis(&along, p, 1, (const uint64_t[]){16}, 0));
  FAILS(XORDER_ERROR_INPUT, "only a map of all indices",
        xorder_permutation_json(along, 0, 0, text, 1, &length));
  xorder_permutation_free(along);
  xorder_permutation_free(p);
  OK(xorder_permutation_axes(&p, 2, shape, NULL, 1));
  FAILS(XORDER_ERROR_INPUT, "only a map of all indices", xorder_permutation_svg(p, "", 0, text, 1, &length));
  xorder_permutation_free(p);
}

static void test_errors(void) {
  const uint64_t shape[] = {3, 4}, huge[] = {(uint64_t)1 << 40, (uint64_t)1 << 40}, row[] = {8};
  const uint64_t singular[] = {1, 1}, wide[] = {1, 4}, exchange[] = {2, 1};
  const int twice[] = {0, 0}, none[] = {0, 2};
  xorder_permutation *p = NULL, *map, *axis;

  FAILS(XORDER_ERROR_ARGUMENT, "out is NULL", xorder_permutation_axes(NULL, 2, shape, NULL, 8));
#define BAD(status, text, call) \
  do {                          \
    p = GARBAGE;                \
    FAILS(status, text, call);  \
    CHECK(p == NULL);           \
  } while (0)
  BAD(XORDER_ERROR_ARGUMENT, "shape is NULL", xorder_permutation_axes(&p, 2, NULL, NULL, 8));
  BAD(XORDER_ERROR_ARGUMENT, "-1 axes", xorder_permutation_axes(&p, -1, shape, NULL, 8));
  BAD(XORDER_ERROR_ARGUMENT, "65 axes", xorder_permutation_axes(&p, 65, shape, NULL, 8));
  BAD(XORDER_ERROR_INPUT, "twice", xorder_permutation_axes(&p, 2, shape, twice, 8));
  BAD(XORDER_ERROR_INPUT, "no axis 2", xorder_permutation_axes(&p, 2, shape, none, 8));
  BAD(XORDER_ERROR_INPUT, "2^63", xorder_permutation_axes(&p, 2, huge, NULL, 8));
  BAD(XORDER_ERROR_INPUT, "at least 1 byte", xorder_permutation_axes(&p, 2, shape, NULL, 0));
  BAD(XORDER_ERROR_ARGUMENT, "columns is NULL", xorder_permutation_bmmc(&p, 2, NULL, 0, 8));
  BAD(XORDER_ERROR_INPUT, "singular", xorder_permutation_bmmc(&p, 2, singular, 0, 8));
  BAD(XORDER_ERROR_INPUT, "", xorder_permutation_bmmc(&p, 2, wide, 0, 8));
  BAD(XORDER_ERROR_INPUT, "complement is 0x4", xorder_permutation_bmmc(&p, 2, exchange, 4, 8));
  BAD(XORDER_ERROR_INPUT, "at least 1 byte", xorder_permutation_bmmc(&p, 2, exchange, 0, 0));
  BAD(XORDER_ERROR_ARGUMENT, "63 bits", xorder_permutation_bmmc(&p, 63, exchange, 0, 8));
  BAD(XORDER_ERROR_ARGUMENT, "-1 bits", xorder_permutation_expression(&p, "gray", -1, 8));
  BAD(XORDER_ERROR_ARGUMENT, "text is NULL", xorder_permutation_expression(&p, NULL, 8, 8));
  BAD(XORDER_ERROR_INPUT, "grey", xorder_permutation_expression(&p, "grey", 8, 8));
  BAD(XORDER_ERROR_INPUT, "2^63", xorder_permutation_expression(&p, "gray", 62, 8));
  BAD(XORDER_ERROR_ARGUMENT, "map is NULL", xorder_permutation_along_axis(&p, NULL, 2, shape, 0));
  CHECK(xorder_last_errno() == 0);

  OK(xorder_permutation_expression(&map, "gray", 3, 8));
  BAD(XORDER_ERROR_INPUT, "4 elements", xorder_permutation_along_axis(&p, map, 2, shape, 1));
  BAD(XORDER_ERROR_INPUT, "no axis 2", xorder_permutation_along_axis(&p, map, 2, shape, 2));
  BAD(XORDER_ERROR_ARGUMENT, "65 axes", xorder_permutation_along_axis(&p, map, 65, shape, 0));
  OK(xorder_permutation_along_axis(&axis, map, 1, row, 0));
  BAD(XORDER_ERROR_ARGUMENT, "not a BMMC", xorder_permutation_along_axis(&p, axis, 1, row, 0));
#undef BAD
  xorder_permutation_free(axis);
  xorder_permutation_free(map);
  xorder_permutation_free(NULL);
  CHECK(xorder_permutation_bytes(NULL) == 0);
  CHECK(xorder_permutation_target(NULL, 0) == UINT64_MAX);
}

void test_permutations(void) {
  test_axes();
  test_degenerate_shapes();
  test_bmmc();
  test_expression();
  test_what_is_shown();
  test_errors();
}
