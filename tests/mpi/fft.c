/* A Fourier transform of 2^n complex numbers over P ranks, against the paper's interface: C99 and C++.
 *
 *   mpiexec -n P fft N
 *
 * It makes the calls, and includes the files, of programs that were written for the package. Rank 0 compares with FFTW; where FFTW
 * was missing when this was built, it says so and exits with 77.
 *
 * After bit reversal, level l = 0 .. n-1 joins elements whose indices differ in bit l. A rank holds the lowest n-p bits of indices, so
 * it does n-p levels, then the indices are rotated by as many bits, and so on, until each bit has been low once. Runs under MPI_Init(),
 * that is, MPI_THREAD_SINGLE. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bit_matrix_fns.cpp"
#include "bit_matrix_types.h"
#include "bmmc_mpi.h"
#ifdef HAVE_FFTW
#include <fftw3.h>
#endif

typedef struct {
  double re, im;
} number;

static void need(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "fft: %s: %s\n", what, xorder_mpi_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Bit i of an index goes to bit (i + k) mod n. */
static uint64_t rotated(uint64_t x, int n, int k) {
  const uint64_t all = ((uint64_t)1 << n) - 1;
  k %= n;
  return k == 0 ? x : ((x << k) | (x >> (n - k))) & all;
}

/* Levels first .. first+count-1, in the rank's elements, whose indices have been rotated by `first`. */
static void levels(number *data, int n, int p, int rank, int first, int count) {
  const uint64_t block = (uint64_t)1 << (n - p);
  const double pi = acos(-1.0);
  int l;
  for (l = first; l < first + count; ++l) {
    const uint64_t half = (uint64_t)1 << (l - first);
    uint64_t i;
    for (i = 0; i < block; ++i) {
      if (i & half) continue;
      const uint64_t index = rotated(((uint64_t)rank << (n - p)) | i, n, first);
      const uint64_t low = index & (((uint64_t)1 << l) - 1);
      const double angle = -pi * (double)low / (double)((uint64_t)1 << l);
      const number w = {cos(angle), sin(angle)}, a = data[i], b = data[i + half];
      const number t = {w.re * b.re - w.im * b.im, w.re * b.im + w.im * b.re};
      data[i].re = a.re + t.re;
      data[i].im = a.im + t.im;
      data[i + half].re = a.re - t.re;
      data[i + half].im = a.im - t.im;
    }
  }
}

static void transform(number *data, number *temp, int n, int p, int rank, MPI_Comm comm) {
  const int depth = n - p, rest = n % depth;
  bit_matrix identity = identity_matrix(allocate_bit_matrix(n), n), A = allocate_bit_matrix(n);
  BMMC_MPI_factor_info whole, last = {NULL, 0, 0};
  int first;

  A = reverse_bit_matrix(A, identity, n);
  need(BMMC_MPI_proc_major(A, 0, n, p, rank, comm, (int)sizeof(number), data, temp), "bit reversal");
  A = rotate_bit_matrix(A, identity, n, depth);
  need(factor_BMMC_MPI_proc_major(A, 0, n, p, &whole), "factoring");
  if (rest != 0) {
    A = rotate_bit_matrix(A, identity, n, rest);
    need(factor_BMMC_MPI_proc_major(A, 0, n, p, &last), "factoring");
  }
  for (first = 0; first < n; first += depth) {
    const int count = n - first < depth ? n - first : depth;
    levels(data, n, p, rank, first, count);
    need(perform_BMMC_MPI(count == depth ? &whole : &last, n, p, rank, comm, (int)sizeof(number), data, temp), "rotation");
    MPI_Barrier(comm);
  }
  free_BMMC_MPI_factor_info(&whole);
  free_BMMC_MPI_factor_info(&last);
  free_bit_matrix(A);
  free_bit_matrix(identity);
}

#ifdef HAVE_FFTW
static double worst_difference(const number *input, const number *output, int n) {
  const size_t count = (size_t)1 << n;
  fftw_complex *a = (fftw_complex *)fftw_malloc(count * sizeof(fftw_complex));
  fftw_plan plan = fftw_plan_dft_1d((int)count, a, a, FFTW_FORWARD, FFTW_ESTIMATE);
  double worst = 0;
  size_t i;
  memcpy(a, input, count * sizeof(number));
  fftw_execute(plan);
  for (i = 0; i < count; ++i) {
    const double difference = hypot(a[i][0] - output[i].re, a[i][1] - output[i].im);
    if (difference > worst) worst = difference;
  }
  fftw_destroy_plan(plan);
  fftw_free(a);
  return worst;
}
#endif

int main(int argc, char **argv) {
  int ranks, rank, p = 0, status = 0;
  size_t block, i;
  number *data, *temp, *input = NULL, *output = NULL;
  const int n = argc > 1 ? atoi(argv[1]) : 16;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (1 << p < ranks) ++p;
  if (n <= p || n > 24) {
    if (rank == 0) fprintf(stderr, "fft: 2^%d numbers over %d ranks: at least 2 each, at most 2^24 in all\n", n, ranks);
    MPI_Finalize();
    return 2;
  }

  block = (size_t)1 << (n - p);
  data = (number *)malloc(block * sizeof(number));
  temp = (number *)malloc(block * sizeof(number));
  if (rank == 0) {
    input = (number *)malloc(sizeof(number) << n);
    output = (number *)malloc(sizeof(number) << n);
    for (i = 0; i < (size_t)1 << n; ++i) {
      input[i].re = sin(3.7 * (double)i);
      input[i].im = cos(0.31 * (double)i * (double)(i % 17));
    }
  }
  MPI_Scatter(input, (int)block * 2, MPI_DOUBLE, data, (int)block * 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  transform(data, temp, n, p, rank, MPI_COMM_WORLD);
  MPI_Gather(data, (int)block * 2, MPI_DOUBLE, output, (int)block * 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  if (rank == 0) {
#ifdef HAVE_FFTW
    const double worst = worst_difference(input, output, n), allowed = 1e-12 * (double)((size_t)1 << n);
    printf("fft: 2^%d numbers over %d ranks differ from FFTW by %.1e at most\n", n, ranks, worst);
    status = worst < allowed ? 0 : 1;
#else
    printf("fft: built without FFTW (libfftw3-dev): transformed, but not checked\n");
    status = 77;
#endif
  }
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(data);
  free(temp);
  free(input);
  free(output);
  MPI_Finalize();
  return status;
}
