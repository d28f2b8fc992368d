// xorder over MPI: permutes, in memory, arrays that are distributed over the ranks of a communicator.
//
//   xorder_mpi_plan *plan;
//   const uint64_t shape[] = {20000, 30000};
//   if (xorder_mpi_plan_axes(&plan, 2, shape, NULL, ranks) != XORDER_OK) ...  transposes a matrix
//   uint64_t room = xorder_mpi_plan_room(plan, rank) * sizeof(double);     bytes in data and temp
//   ...
//   xorder_mpi_perform(plan, comm, sizeof(double), data, temp, NULL);     any number of times
//   xorder_mpi_plan_free(plan);
//
// There are two families of permutations.
//
//   axes   numpy.transpose(array, axes) of an array of any shape, over any number of ranks. Each rank holds a
//          slab along the slowest axis: before, of the array; after, of the result. Of an axis of extent E,
//          rank k of P has the coordinates from floor(k E / P) up to, not including, floor((k+1) E / P).
//   bmmc   element x of 2^n goes to y = A x ^ c, where A is a nonsingular matrix of bits and sums are
//          exclusive or: bit reversal, Gray code, rotations and everything else that mixes the bits of
//          indices. The number of ranks is a power of two. Some of the bits of an element's index are the
//          number of the rank that holds it. Elements move in the rounds of T. H. Cormen, "Performing BMMC
//          permutations efficiently on distributed-memory multiprocessors with MPI" (Dartmouth
//          PCS-TR97-317, 1997).
//
// A rank needs memory for its elements twice, `data` and `temp`, and for nothing else of that size. What it
// receives goes through buffers of at most 3 MiB or, over more than 64 ranks, of at most 1 MiB and 1/16 of
// its elements, unless slice_bytes asks for more. MPI has its own buffers. Only elements are sent, no
// indices. In a round each rank sends to one rank and receives from one.
//
// Results and errors are as in xorder.h, but xorder_mpi_last_error(), xorder_mpi_last_errno() and
// xorder_mpi_status_text() describe them. The communicator's error handler decides what MPI does on an error
// of its own; the default one ends the program.
#ifndef XORDER_MPI_H
#define XORDER_MPI_H

#include <mpi.h>

#include "xorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/// XORDER_VERSION of the loaded library.
XORDER_API int xorder_mpi_version(void);

/// An additional code: MPI reported an error, or is not initialised. If data were being moved, data and temp
/// are undefined.
#define XORDER_ERROR_MPI (-7)

/// A few words for a status, XORDER_ERROR_MPI included. Never NULL.
XORDER_API const char* xorder_mpi_status_text(int status);
/// The message of this thread's last failed call, in one line; "" if none has failed. The text stays until
/// the next failure in this thread.
XORDER_API const char* xorder_mpi_last_error(void);
/// The errno of that failure, ENOMEM if memory ran out; 0 if there is none.
XORDER_API int xorder_mpi_last_errno(void);

// ---- Plans ------------------------------------------------------------------------------------------------

/// A plan for permuting an array over a number of ranks. Immutable: several threads may use one. Takes a few
/// KiB. It does not depend on the data, the size of an element or the communicator. Making one needs no
/// communication, not even an initialised MPI.
typedef struct xorder_mpi_plan xorder_mpi_plan;

/// Stores the axes of an array in another order: axis i of the target is axis axes[i] of the source. Both are
/// row-major, and distributed along their first axis. NULL for `axes` reverses the axes. Negative axes count
/// from the end.
/// Requires `shape`, and `axes` if given, to have `dimensions` entries, 0 to XORDER_MAX_RANK. Extents may be
/// 0, and need not be multiples of the number of ranks.
/// XORDER_ERROR_ARGUMENT: `dimensions` is out of range; `shape` is NULL.
/// XORDER_ERROR_INPUT: `axes` is not a permutation of the axes; the array has 2^63 elements or more;
/// `ranks` is below 1.
XORDER_API int xorder_mpi_plan_axes(xorder_mpi_plan** out, int dimensions, const uint64_t* shape,
                                    const int* axes, int ranks);

/// Moves element x of 2^n to A x ^ complement; columns[j] is column j of A, as in xorder_permutation_bmmc().
/// Rank r holds the elements whose index has r in the lg(ranks) bits from bit `lowest_rank_bit` on, in the
/// order of their indices. So if lowest_rank_bit is n − lg(ranks), it holds consecutive elements
/// (processor-major). If it is 0, it holds every ranks-th element (processor-minor).
/// Requires 0 <= n <= 62 and `columns` to have n entries. Costs O(n^3) operations on words, less than a
/// millisecond for n = 40.
/// XORDER_ERROR_ARGUMENT: n is out of range; `columns` is NULL.
/// XORDER_ERROR_INPUT: A is singular; a column or the complement has bits beyond n; the number of ranks is
/// not a power of two, or is above 2^n or 2^20; the bits of the rank are not all below n.
XORDER_API int xorder_mpi_plan_bmmc(xorder_mpi_plan** out, int n, const uint64_t* columns,
                                    uint64_t complement, int ranks, int lowest_rank_bit);

/// The same for the permutation that an expression names, such as "gray^-1 * bitreverse": see
/// xorder_permutation_expression().
XORDER_API int xorder_mpi_plan_expression(xorder_mpi_plan** out, const char* text, int n, int ranks,
                                          int lowest_rank_bit);

/// The number of elements that a rank holds before and after, and the larger of the two. 0 for NULL, and if
/// there is no such rank.
XORDER_API uint64_t xorder_mpi_plan_before(const xorder_mpi_plan* plan, int rank);
XORDER_API uint64_t xorder_mpi_plan_after(const xorder_mpi_plan* plan, int rank);
XORDER_API uint64_t xorder_mpi_plan_room(const xorder_mpi_plan* plan, int rank);

XORDER_API void xorder_mpi_plan_free(xorder_mpi_plan* plan);

/// floor(rank * extent / ranks): where the slab of a rank begins along an axis.
/// Requires 0 <= rank <= ranks and ranks >= 1.
XORDER_API uint64_t xorder_mpi_slab_begin(uint64_t extent, int ranks, int rank);

// ---- Performing -------------------------------------------------------------------------------------------

/// Members that are 0 mean the defaults:
///     xorder_mpi_options options = {0};
///     options.size = sizeof options;
typedef struct xorder_mpi_options {
  /// sizeof(xorder_mpi_options) in the calling program.
  size_t size;
  /// Threads that permute within a rank, at most 1024. Default: the processors that the rank may run on,
  /// divided among the ranks that may run on the same ones.
  int threads;
  /// Must be 0.
  int reserved;
  /// The largest size of a message in bytes, at most INT_MAX. Default: 256 KiB. It must be the same on all
  /// ranks. A rank may allocate buffers for four messages of this size, or of what it receives from one rank
  /// if that is less.
  uint64_t slice_bytes;
} xorder_mpi_options;

/// Performs a plan. Collective: all ranks of `comm` call it, with plans of the same permutation and with the
/// same element_bytes and slice_bytes. If these differ, or a rank's arguments are wrong, all ranks return an
/// error and `data` is unchanged.
///
/// `data` holds the rank's elements before and after. `temp` is undefined afterwards. Both must have room for
/// xorder_mpi_plan_room() elements and must not overlap; they may be NULL if that is 0. NULL for `options`
/// means the defaults. Arrays on huge pages and at multiples of 64 bytes are faster.
/// Requires `comm` to have as many ranks as the plan is for, in any order, and no other collective call in it
/// at the same time. MPI must have been initialised with MPI_THREAD_FUNNELED or more, by the calling thread.
/// If options->threads is 1, no thread is started, and MPI_THREAD_SINGLE is enough. Messages go through a
/// duplicate of `comm`. The first call makes it, and it is freed with `comm`.
///
/// Costs one small MPI_Allreduce. Reads and writes the elements once in memory, and sends those that change
/// rank once. If elements arrive in pieces of less than 128 bytes, a bmmc plan may read and write them once
/// more in memory.
/// XORDER_ERROR_ARGUMENT: an argument is NULL, data and temp overlap, an option is out of range, MPI's thread
/// level is too low.
/// XORDER_ERROR_INPUT: the number of ranks is not the plan's; element_bytes is 0; a rank's elements have 2^63
/// bytes or more; the ranks' arguments differ; another rank failed.
/// XORDER_ERROR_MEMORY: there is no memory for the buffers. Most are allocated before the first element is
/// sent: then all ranks fail and `data` is unchanged. A bmmc plan that moves the elements once more at the
/// end allocates buffers for that, at most about the size of a second-level cache for each thread. If there
/// is no memory for these, only this rank fails, and its data and temp are undefined.
XORDER_API int xorder_mpi_perform(const xorder_mpi_plan* plan, MPI_Comm comm, uint64_t element_bytes,
                                  void* data, void* temp, const xorder_mpi_options* options);

/// For wrappers whose own checks failed on this rank. Takes part in the other ranks' xorder_mpi_perform(), so
/// that it fails on all ranks. Returns XORDER_ERROR_INPUT with the message `why`.
XORDER_API int xorder_mpi_refuse(MPI_Comm comm, const char* why);

#ifdef __cplusplus
}
#endif

#endif
