/* The types of Cormen's BMMC_MPI package: see bmmc_mpi.h. */
#ifndef BIT_MATRIX_TYPES_H
#define BIT_MATRIX_TYPES_H

#include <stdint.h>

/** Column j of a matrix A. Its bit i is a_ij. */
typedef uint64_t matrix_column;
/** A[j] is column j. */
typedef matrix_column* bit_matrix;

#endif
