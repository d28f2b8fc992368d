/* What a program sees that says MPI_Init(), or nothing: the paper's calls run, refuse what is wrong on all ranks, and
 * xorder_mpi_perform() asks for more than MPI_THREAD_SINGLE if it may start threads. C99. */
#include <stdio.h>
#include <string.h>

#include "bmmc_mpi.h"

static int failures = 0;

#define EXPECT(condition)                                                                              \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      ++failures;                                                                                      \
      fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, xorder_mpi_last_error());     \
    }                                                                                                  \
  } while (0)
#define EXPECT_MESSAGE(text) EXPECT(strstr(xorder_mpi_last_error(), text) != NULL)

int main(int argc, char **argv) {
  enum { bits = 8 };
  uint32_t data[1 << bits], temp[1 << bits];
  bit_matrix A = identity_matrix(allocate_bit_matrix(bits), bits);
  BMMC_MPI_factor_info info;
  int p = 0, ranks, rank, level, code, i, f;

  /* Matrices act after the one that is given. Column 1 of A is 11. */
  A[1] = 3;
  reverse_bit_matrix(A, A, bits);
  EXPECT(A[0] == 0x80 && A[1] == 0xc0 && A[7] == 1);
  rotate_bit_matrix(A, A, bits, 3 + bits);
  EXPECT(A[0] == 0x10 && A[1] == 0x18 && A[7] == 0x20);
  EXPECT(rotate_bit_matrix(A, A, bits, 0)[1] == 0x18);
  identity_matrix(A, bits);

  /* Plans need no MPI, performing does. */
  EXPECT(strcmp(xorder_mpi_last_error(), "") == 0);
  EXPECT(xorder_mpi_version() == XORDER_VERSION);
  EXPECT(factor_BMMC_MPI(A, 1, bits, 0, bits, &info) == 0);
  EXPECT(xorder_mpi_perform(info.plan, MPI_COMM_WORLD, 4, data, temp, NULL) == XORDER_ERROR_MPI);
  EXPECT_MESSAGE("not initialised");
  EXPECT(xorder_mpi_last_errno() == 0);
  EXPECT(strcmp(xorder_mpi_status_text(XORDER_ERROR_MPI), "MPI failed") == 0);
  EXPECT(strcmp(xorder_mpi_status_text(XORDER_ERROR_MEMORY), "out of memory") == 0);
  free_BMMC_MPI_factor_info(&info);

  MPI_Init(&argc, &argv);
  MPI_Query_thread(&level);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (1 << p < ranks) ++p;

  /* x goes to x ^ 5, then to x ^ 2^(bits-1): in all layouts. */
  for (f = 0; f <= bits - p; ++f) {
    const uint32_t low = ((uint32_t)1 << f) - 1;
    for (i = 0; i < 1 << (bits - p); ++i) data[i] = (((uint32_t)i & ~low) << p) | ((uint32_t)rank << f) | ((uint32_t)i & low);
    EXPECT(BMMC_MPI(A, 5, bits, p, f, rank, MPI_COMM_WORLD, 4, data, temp) == 0);
    EXPECT(factor_BMMC_MPI(A, 1 << (bits - 1), bits, p, f, &info) == 0);
    EXPECT(perform_BMMC_MPI(&info, bits, p, rank, MPI_COMM_WORLD, 4, data, temp) == 0);
    free_BMMC_MPI_factor_info(&info);
    for (i = 0; i < 1 << (bits - p); ++i) {
      const uint32_t x = (((uint32_t)i & ~low) << p) | ((uint32_t)rank << f) | ((uint32_t)i & low);
      EXPECT(data[i] == (x ^ 5 ^ (1 << (bits - 1))));
    }
  }
  EXPECT(BMMC_MPI_proc_major(A, 3, bits, p, rank, MPI_COMM_WORLD, 4, data, temp) == 0);
  EXPECT(BMMC_MPI_proc_minor(A, 3, bits, p, rank, MPI_COMM_WORLD, 4, data, temp) == 0);

  /* One rank's mistake is refused by all. */
  EXPECT(factor_BMMC_MPI_proc_minor(A, 1, bits, p, &info) == 0);
  EXPECT(perform_BMMC_MPI(&info, bits, p, 0, MPI_COMM_WORLD, 4, data, temp) == (ranks == 1 ? 0 : XORDER_ERROR_INPUT));
  if (ranks > 1) EXPECT_MESSAGE(rank == 0 ? "cannot take part" : "rank is not");
  EXPECT(perform_BMMC_MPI(&info, bits, p, rank, MPI_COMM_WORLD, rank == 0 ? 0 : 4, data, temp) < 0);
  EXPECT(perform_BMMC_MPI(&info, rank == 0 ? bits + 1 : bits, p, rank, MPI_COMM_WORLD, 4, data, temp) < 0);
  A[1] = rank == 0 ? A[0] : 2;
  EXPECT(BMMC_MPI_proc_major(A, 0, bits, p, rank, MPI_COMM_WORLD, 4, data, temp) < 0);
  EXPECT_MESSAGE(rank == 0 ? "singular" : "rank 0 cannot take part");

  /* Threads are not for MPI_THREAD_SINGLE. */
  if (level == MPI_THREAD_SINGLE) {
    code = xorder_mpi_perform(info.plan, MPI_COMM_WORLD, 4, data, temp, NULL);
    EXPECT(code == XORDER_ERROR_ARGUMENT);
    EXPECT_MESSAGE("MPI_THREAD_FUNNELED");
  } else {
    printf("single: MPI_Init gives thread level %d, so that nothing is refused\n", level);
  }
  free_BMMC_MPI_factor_info(&info);
  free_bit_matrix(A);
  MPI_Finalize();
  return failures != 0;
}
