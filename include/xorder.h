// xorder in C: reorders arrays in memory, and files that do not fit there.
//
//   xorder_permutation *what;
//   const uint64_t shape[] = {20000, 30000};
//   if (xorder_permutation_axes(&what, 2, shape, NULL, sizeof(double)) != XORDER_OK) ...   transposes a matrix
//
//   xorder_plan *plan;                                in memory: make a plan once, execute it often
//   xorder_plan_create(&plan, what);
//   xorder_plan_execute(plan, source, target, 0);
//
//   xorder_job *job;                                  from file to file
//   xorder_job_raw(&job, what, "a.raw", 0, "b.raw", 0, NULL);
//   puts(xorder_job_plan_text(job));
//   xorder_job_run(job, NULL, NULL);
//
// A permutation says what is to be done. There are two families. An axis permutation stores the axes of an array of any
// shape in another order. A BMMC permutation sends element x of 2^n to A x ^ c, where x is read as a vector of n bits, A
// is a nonsingular matrix of bits and sums are exclusive or: bit reversal, Gray code, Morton order, shuffles.
//
// Results. Functions that can fail return XORDER_OK, which is 0, or a negative code. xorder_last_error() then says in one
// line what was wrong, where, and what would be right. A function that makes an object sets *out to NULL when it fails.
// The library prints nothing, never ends the process, and no exception leaves it.
//
// Objects are freed by the function whose name ends in _free, which takes NULL as well. An object keeps what it needs of
// the arguments it was made from: these may be freed or changed. Texts that a function returns belong to its object.
//
// Threads. Any number of threads may use one xorder_permutation or one xorder_plan at the same time. An xorder_job is
// used by one thread at a time. Errors are kept for each thread.
//
// Growth. Functions, codes and members of structs are added at the end; what is here keeps its meaning as long as the
// shared library is called libxorder.so.0.
//
// The C++ interface, xorder/xorder.hpp, can do more.
#ifndef XORDER_H
#define XORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define XORDER_API __attribute__((visibility("default")))
#else
#define XORDER_API
#endif

// ---- Version --------------------------------------------------------------------------------------------------------

#define XORDER_VERSION_MAJOR 0
#define XORDER_VERSION_MINOR 1
#define XORDER_VERSION_PATCH 0
/// Of this header: 10203 is version 1.2.3.
#define XORDER_VERSION (XORDER_VERSION_MAJOR * 10000 + XORDER_VERSION_MINOR * 100 + XORDER_VERSION_PATCH)

/// XORDER_VERSION of the library that runs, which may be newer than this header.
XORDER_API int xorder_version(void);
/// The same as a text, "1.2.3".
XORDER_API const char* xorder_version_string(void);

// ---- Errors ---------------------------------------------------------------------------------------------------------

enum xorder_status {
  XORDER_OK = 0,
  /// A call that cannot be right whatever the data: NULL where an object belongs, an options struct of an unknown size.
  XORDER_ERROR_ARGUMENT = -1,
  /// The request cannot be carried out: a bad shape or expression, a missing or malformed file, an output that exists, no
  /// room. No output was made.
  XORDER_ERROR_INPUT = -2,
  /// The operating system failed while data were moved, or an input changed. Nothing of the output is left.
  XORDER_ERROR_IO = -3,
  /// The progress function asked for it. Nothing of the output is left.
  XORDER_ERROR_CANCELLED = -4,
  /// There was no memory for what the call had to allocate. Nothing was done.
  XORDER_ERROR_MEMORY = -5,
  /// Anything else, such as a thread that could not be started.
  XORDER_ERROR_INTERNAL = -6
};

/// A few words for a status, "bad input". Never NULL.
XORDER_API const char* xorder_status_text(int status);
/// What went wrong in the last call of this thread that failed, in one line of at most 4095 bytes; "" if none has. The text
/// stays until the next failure in this thread. Calls that succeed leave it alone. Allocates nothing.
XORDER_API const char* xorder_last_error(void);
/// The errno behind that failure, such as ENOENT for a missing input, EEXIST for an output that exists, ENOSPC; 0 if there
/// is none.
XORDER_API int xorder_last_errno(void);

// ---- Permutations ---------------------------------------------------------------------------------------------------

/// What is to be done to an array whose elements are moved whole. Immutable. A few KiB.
typedef struct xorder_permutation xorder_permutation;

/// The most axes that an array may have.
#define XORDER_MAX_RANK 64

/// Stores the axes of an array in another order, as numpy.transpose does: axis i of the target is axis axes[i] of the
/// source, so that its extent is shape[axes[i]]. Both arrays are row-major: their last axis is the fastest.
/// `axes` NULL: the axes reversed, which transposes a matrix. Negative axes count from the end.
/// Requires `shape`, and `axes` if given, to have `rank` entries, 0 to XORDER_MAX_RANK; extents may be 0. The array must
/// have less than 2^63 bytes.
/// XORDER_ERROR_INPUT: `axes` is no permutation of the axes; the array is too large; element_bytes is 0.
XORDER_API int xorder_permutation_axes(xorder_permutation** out, int rank, const uint64_t* shape,
                                       const int* axes, uint64_t element_bytes);

/// Moves element x of 2^n to A x ^ complement. columns[j] is column j of A as a number: its bit i is A's row i. So A x is
/// the exclusive or of the columns that the bits of x select, and source bit j goes to the target bits in columns[j].
/// Requires 0 <= n <= 62 and `columns` to have n entries below 2^n.
/// XORDER_ERROR_INPUT: A is singular; a column or the complement has bits beyond n; the array is too large.
XORDER_API int xorder_permutation_bmmc(xorder_permutation** out, int n, const uint64_t* columns,
                                       uint64_t complement, uint64_t element_bytes);

/// The BMMC permutation of 2^n elements that an expression names. "gray^-1 * bitreverse" reverses the bits of every
/// index and then undoes a Gray code: as with functions, the right factor acts first. The names:
///   identity  reverse  bitreverse  gray  transpose(lgR,lgC)  shuffle  unshuffle  rotate(k)  morton(d)  bits(i,j,..)  xor(c)
/// XORDER_ERROR_INPUT: the text is no expression (the message says at which character), or does not fit n.
XORDER_API int xorder_permutation_expression(xorder_permutation** out, const char* text, int n,
                                             uint64_t element_bytes);

/// Applies a BMMC permutation along one axis of a row-major array, at every place of the other axes: "bitreverse" along
/// axis 1 reverses the index bits in each row of a matrix. Takes the size of an element from `map`, which remains the
/// caller's. A negative axis counts from the end.
/// XORDER_ERROR_ARGUMENT: `map` was not made by xorder_permutation_bmmc or _expression. XORDER_ERROR_INPUT: there is no
/// such axis; its extent is not the number of elements of `map`.
XORDER_API int xorder_permutation_along_axis(xorder_permutation** out, const xorder_permutation* map,
                                             int rank, const uint64_t* shape, int axis);

/// The size of the array; 0 for NULL.
XORDER_API uint64_t xorder_permutation_bytes(const xorder_permutation* permutation);
/// Where element `source` goes; both count elements in row-major order. UINT64_MAX if there is no such element. Costs one
/// division for each axis, so it is for checks, not for moving arrays.
XORDER_API uint64_t xorder_permutation_target(const xorder_permutation* permutation, uint64_t source);

XORDER_API void xorder_permutation_free(xorder_permutation* permutation);

// ---- In memory ------------------------------------------------------------------------------------------------------

/// How to perform a permutation in memory. Immutable. A few KiB.
typedef struct xorder_plan xorder_plan;

/// Makes a plan, in some microseconds.
XORDER_API int xorder_plan_create(xorder_plan** out, const xorder_permutation* permutation);

/// Permutes `source` into `target`, which both have xorder_permutation_bytes() bytes. Several threads may execute one plan
/// at the same time, each with a target of its own.
/// `threads`: how many permute; 0: one for each processor; at most 1024. Arrays below 2 MiB are permuted by the calling
/// thread alone.
/// Requires the arrays not to overlap; they may be NULL if they are empty. Arrays at multiples of 64 bytes, on huge pages,
/// go faster.
/// Reads and writes every byte about once, at a speed near that of memcpy. Allocates a first-level cache's worth for each
/// thread.
/// XORDER_ERROR_ARGUMENT: the arrays overlap, an array is NULL, `threads` is out of range. XORDER_ERROR_INTERNAL: no
/// thread could be started.
XORDER_API int xorder_plan_execute(const xorder_plan* plan, const void* source, void* target, int threads);

/// The same where the array lies. Bit reversal, reversal, a transposition of 2^k x 2^k elements and every other map that is
/// its own inverse exchange pairs of tiles and need no more memory than xorder_plan_execute(), for elements of 1, 2, 4, 8,
/// 16, 32 .. bytes. All others are permuted into an array of the same size, allocated here, and copied back.
/// XORDER_ERROR_MEMORY: there is no room for that array; `array` is as it was.
XORDER_API int xorder_plan_execute_in_place(const xorder_plan* plan, void* array, int threads);

/// One line for people: the kind of tiles and their sizes. Lives as long as the plan; "" for NULL.
XORDER_API const char* xorder_plan_text(const xorder_plan* plan);

XORDER_API void xorder_plan_free(xorder_plan* plan);

// ---- From file to file ----------------------------------------------------------------------------------------------

/// What the header of an .npy file says, for making a permutation of it: the number of its axes, their extents as NumPy
/// shows them, and the size of an element. Requires room for XORDER_MAX_RANK entries in `shape`. Pointers that are NULL are
/// left out. Nothing is stored if the call fails.
/// XORDER_ERROR_INPUT: the file cannot be read, or is no .npy file.
XORDER_API int xorder_npy_shape(const char* path, int* rank, uint64_t* shape, uint64_t* element_bytes);

/// How the files are reached. All ways give the same bytes.
enum xorder_access {
  XORDER_ACCESS_AUTO = 0,    ///< whichever suits their sizes and where they are
  XORDER_ACCESS_DIRECT = 1,  ///< past the page cache (O_DIRECT)
  XORDER_ACCESS_MAPPED = 2   ///< through mapped windows
};

/// What a job may use. A member that is 0 or NULL means the default, so that this is all it takes:
///     xorder_options options = {0};
///     options.size = sizeof options;
///     options.memory = (uint64_t)1 << 30;
/// A program with a newer header runs with an older library as long as it leaves 0 what that library does not know.
typedef struct xorder_options {
  /// sizeof(xorder_options) where the program was compiled.
  size_t size;
  /// Bytes for everything that grows with the data, at least 16 MiB; 40 MiB at most come on top. Default: half of what is
  /// available.
  uint64_t memory;
  /// Threads that permute, at most 1024. Default: one for each processor.
  int threads;
  /// An xorder_access.
  int access;
  /// Not 0: an output that exists is replaced, once the new one is complete.
  int overwrite;
  /// Must be 0.
  int reserved;
  /// Directory for scratch files of plans with several passes. Default: that of the output.
  const char* scratch_directory;
  /// What the disk can do, for choosing block sizes: "ssd", "hdd", or the path of a profile. Default: the profile that
  /// `xorder bench disk` has measured of the output's file system, or else "ssd".
  const char* device;
} xorder_options;

/// A permutation of the array in one file, to be written to another.
typedef struct xorder_job xorder_job;

/// A job on raw files. The array begins at byte input_offset of `input` and fills the rest of it. It is written at byte
/// output_offset of `output`, a new file; the bytes before it are 0, for the caller to fill in afterwards. An output whose
/// name ends in .npy gets a header instead, and its elements the type '|V' and their size; output_offset must then be 0.
/// `options` NULL: the defaults.
/// Opens the input, makes the plan (some milliseconds, no more than a few MiB), and checks what can be checked without
/// making a file. Keeps the input open.
/// XORDER_ERROR_ARGUMENT: a required pointer is NULL, or `options` has an unknown size or value. XORDER_ERROR_INPUT: the
/// input cannot be read or has another size; the output exists and may not be overwritten, is the input, cannot be made,
/// or does not fit the disk; no tile fits the memory.
XORDER_API int xorder_job_raw(xorder_job** out, const xorder_permutation* permutation, const char* input,
                              uint64_t input_offset, const char* output, uint64_t output_offset,
                              const xorder_options* options);

/// A job on .npy files, in C or Fortran order; the output is in C order and has the input's element type. An output whose
/// name ends in .raw, .bin or .dat has no header. An axis permutation, and a map along an axis, need the input's shape. A
/// BMMC permutation takes every shape of 2^n elements, counts them in C order, and gives the output the same shape.
/// Otherwise as xorder_job_raw(). XORDER_ERROR_INPUT also: the input is no .npy file, or its shape or elements are not the
/// permutation's.
XORDER_API int xorder_job_npy(xorder_job** out, const xorder_permutation* permutation, const char* input,
                              const char* output, const xorder_options* options);

/// The plan, for people: lines that say in which passes, tiles and blocks the data will be moved, in how much memory, and
/// how long that may take. Lives as long as the job; "" for NULL.
XORDER_API const char* xorder_job_plan_text(const xorder_job* job);
/// The plan as one JSON object, whose keys docs/json.md lists: sizes, passes, predicted seconds. Lives as long as the job;
/// "" for NULL.
XORDER_API const char* xorder_job_plan_json(const xorder_job* job);

/// How far a run has come.
typedef struct xorder_progress {
  uint64_t bytes_done;   ///< read and written so far, in all passes; never less than at the call before
  uint64_t bytes_total;  ///< what it will be at the end
  int pass, passes;      ///< the pass it is in, from 1, and how many there are
} xorder_progress;

/// Called by the thread that called xorder_job_run(), many times a second. `user` is what was given there. Returns 0 to go
/// on; anything else ends the run. Must return: longjmp() out of it is not allowed.
typedef int (*xorder_progress_function)(const xorder_progress* progress, void* user);

/// Does it: reserves the output's space, moves the data, checks that the input has not changed meanwhile, syncs the output
/// and gives it its name. Blocks until then. `progress` may be NULL; its last call says that all is done, and what it
/// returns then comes too late.
/// Reads and writes all data once for each pass. Allocates what the plan says, and frees it at the end.
/// May be called again, which makes the output again, if options.overwrite allows that.
/// Any error leaves the output's name as it was and no file behind. (There is one exception: if syncing the directory
/// fails, the new output is in place, but may not survive a crash of the machine.) XORDER_ERROR_CANCELLED: the progress function returned
/// something else than 0.
XORDER_API int xorder_job_run(xorder_job* job, xorder_progress_function progress, void* user);

/// What the last run did, as one JSON object, whose keys docs/json.md lists. "" if none has succeeded. Lives until the next
/// run or xorder_job_free().
XORDER_API const char* xorder_job_report_json(const xorder_job* job);
/// What was asked for and could not be had, such as direct access that the file system refuses, in one line; else "". It is
/// complete after the run. Lives until the next run or xorder_job_free().
XORDER_API const char* xorder_job_note(const xorder_job* job);

XORDER_API void xorder_job_free(xorder_job* job);

#ifdef __cplusplus
}
#endif

#endif
