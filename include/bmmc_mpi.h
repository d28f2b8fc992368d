/* The interface of Thomas H. Cormen's BMMC_MPI package ("Performing BMMC permutations efficiently on
 * distributed-memory multiprocessors with MPI", Dartmouth PCS-TR97-317, 1997), implemented with
 * libxorder_mpi. C99 and C++. New programs should use xorder_mpi.h, which can do more.
 *
 * Programs written for the package compile and run once its own files are deleted: bmmc_mpi.h, bmmc_mpi.c,
 * bit_matrix_types.h, bit_matrix_fns.h, and bit_matrix_fns.c or .cpp. Of what bit_matrix_fns.h declared,
 * these headers have the functions that programs are known to call. A program that combines matrices in other
 * ways needs its own functions for that.
 *
 * An array of 2^n elements of `size` bytes each is distributed over the 2^p ranks of a communicator. Element
 * x goes to y = A x xor c. Bits f .. f+p-1 of an element's index are the number of the rank that holds it:
 * f = n-p is processor-major, f = 0 processor-minor.
 *
 * `data` holds a rank's 2^(n-p) elements in the order of their indices, before and after. `temp` has room for
 * as many and is undefined afterwards. `rank` is this rank's number in `comm`. All ranks call with equal
 * arguments, except rank, data and temp.
 *
 * Functions that return int return 0 or a negative number (XORDER_ERROR_..). xorder_mpi_last_error() has the
 * message. Functions that take `comm` return an error on all ranks if one rank has one. A program need only
 * call MPI_Init(), because the calling thread does everything. */
#ifndef BMMC_MPI_H
#define BMMC_MPI_H

#include <mpi.h>
#include <stdint.h>

#include "bit_matrix_fns.h"
#include "xorder_mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A factored permutation. The caller provides the struct; factor_BMMC_MPI() fills it. */
typedef struct BMMC_MPI_factor_info {
  xorder_mpi_plan* plan;
  int n, p;
} BMMC_MPI_factor_info;

/** Factors a permutation. It can be performed any number of times, with elements of any size. Needs no
 * communication. */
static inline int factor_BMMC_MPI(bit_matrix A, matrix_column c, int n, int p, int f,
                                  BMMC_MPI_factor_info* info) {
  info->n = n;
  info->p = p;
  /* If p is not in 0 .. 30, pass 0 ranks: xorder_mpi_plan_bmmc() refuses it with the reason. */
  return xorder_mpi_plan_bmmc(&info->plan, n, A, c, p >= 0 && p <= 30 ? 1 << p : 0, f);
}

/** Frees what `info` holds, not `info` itself. `info` must be filled by factor_BMMC_MPI(), or be zero. */
static inline void free_BMMC_MPI_factor_info(BMMC_MPI_factor_info* info) {
  if (!info) return;
  xorder_mpi_plan_free(info->plan);
  info->plan = NULL;
}

static inline int perform_BMMC_MPI(BMMC_MPI_factor_info* info, int n, int p, int rank, MPI_Comm comm,
                                   int size, void* data, void* temp) {
  xorder_mpi_options options = {0, 1, 0, 0};
  int own_rank = -1;
  options.size = sizeof options;
  MPI_Comm_rank(comm, &own_rank);
  if (rank != own_rank) return xorder_mpi_refuse(comm, "rank is not this rank's number in comm");
  if (size < 1) return xorder_mpi_refuse(comm, "an element has 1 byte at least");
  if (!info || !info->plan) return xorder_mpi_refuse(comm, "nothing was factored");
  if (n != info->n || p != info->p)
    return xorder_mpi_refuse(comm, "n and p are not those that were factored for");
  return xorder_mpi_perform(info->plan, comm, (uint64_t)size, data, temp, &options);
}

/** Factors and performs. */
static inline int BMMC_MPI(bit_matrix A, matrix_column c, int n, int p, int f, int rank, MPI_Comm comm,
                           int size, void* data, void* temp) {
  BMMC_MPI_factor_info info;
  int code = factor_BMMC_MPI(A, c, n, p, f, &info);
  if (code < 0) return xorder_mpi_refuse(comm, xorder_mpi_last_error());
  code = perform_BMMC_MPI(&info, n, p, rank, comm, size, data, temp);
  free_BMMC_MPI_factor_info(&info);
  return code;
}

/** Processor-major: rank r holds elements r 2^(n-p) to (r+1) 2^(n-p) - 1. */
static inline int factor_BMMC_MPI_proc_major(bit_matrix A, matrix_column c, int n, int p,
                                             BMMC_MPI_factor_info* info) {
  return factor_BMMC_MPI(A, c, n, p, n - p, info);
}
static inline int BMMC_MPI_proc_major(bit_matrix A, matrix_column c, int n, int p, int rank, MPI_Comm comm,
                                      int size, void* data, void* temp) {
  return BMMC_MPI(A, c, n, p, n - p, rank, comm, size, data, temp);
}

/** Processor-minor: rank r holds elements r, r + 2^p, r + 2 2^p and so on. */
static inline int factor_BMMC_MPI_proc_minor(bit_matrix A, matrix_column c, int n, int p,
                                             BMMC_MPI_factor_info* info) {
  return factor_BMMC_MPI(A, c, n, p, 0, info);
}
static inline int BMMC_MPI_proc_minor(bit_matrix A, matrix_column c, int n, int p, int rank, MPI_Comm comm,
                                      int size, void* data, void* temp) {
  return BMMC_MPI(A, c, n, p, 0, rank, comm, size, data, temp);
}

#ifdef __cplusplus
}
#endif

#endif
