/* The matrices of Cormen's BMMC_MPI package: see bmmc_mpi.h. They have n columns, 0 <= n <= 62. */
#ifndef BIT_MATRIX_FNS_H
#define BIT_MATRIX_FNS_H

#include <stdlib.h>

#include "bit_matrix_types.h"

/** Allocates a matrix of n columns, all 0. Returns NULL if there is no memory. */
static inline bit_matrix allocate_bit_matrix(int n) {
  return (bit_matrix)calloc(n > 0 ? (size_t)n : 1, sizeof(matrix_column));
}

static inline void free_bit_matrix(bit_matrix A) { free(A); }

/** Makes A the n x n identity and returns A. */
static inline bit_matrix identity_matrix(bit_matrix A, int n) {
  int j;
  for (j = 0; j < n; ++j) A[j] = (matrix_column)1 << j;
  return A;
}

/** Makes `target` the permutation A followed by a bit reversal, which moves bit i of an index to bit n-1-i:
 * reverses the rows of A. Returns `target`, which may be A. */
static inline bit_matrix reverse_bit_matrix(bit_matrix target, bit_matrix A, int n) {
  int i, j;
  for (j = 0; j < n; ++j) {
    matrix_column reversed = 0;
    for (i = 0; i < n; ++i) reversed |= (A[j] >> i & 1) << (n - 1 - i);
    target[j] = reversed;
  }
  return target;
}

/** Makes `target` the permutation A followed by a rotation to the right, which moves bit i of an index to bit
 * (i - k) mod n: rotates the rows of A. Returns `target`, which may be A. Requires k >= 0. */
static inline bit_matrix rotate_bit_matrix(bit_matrix target, bit_matrix A, int n, int k) {
  int j;
  k = n > 0 ? k % n : 0;
  for (j = 0; j < n; ++j) target[j] = (A[j] >> k | A[j] << (n - k)) & (((matrix_column)1 << n) - 1);
  return target;
}

#endif
