// The C interface of xorder, which reorders arrays in memory and files larger than memory.
//
//   xorder_permutation *what;
//   const uint64_t shape[] = {20000, 30000};
//   if (xorder_permutation_axes(&what, 2, shape, NULL, sizeof(double)) != XORDER_OK) ...  transposes a matrix
//
//   xorder_plan *plan;                                in memory: make a plan once, execute it often
//   xorder_plan_create(&plan, what);
//   xorder_plan_execute(plan, source, target, 0);
//
//   xorder_plan_create_strided(&plan, what, strides, NULL);   the same for a part of a larger matrix
//
//   xorder_transpose_file("a.npy", "b.npy", 0, NULL, NULL);   from file to file, in one call
//
//   xorder_job *job;                                  any permutation, with a plan to look at
//   xorder_job_raw(&job, what, "a.raw", 0, "b.raw", 0, NULL);
//   puts(xorder_job_plan_text(job));
//   xorder_job_run(job, NULL, NULL);
//
//   xorder_layout *part;                              any array in any file: offset, type, shape, strides
//   xorder_layout_strided(&part, "a.raw", 512, "<f8", 2, shape, strides);
//   xorder_job_layout(&job, what, part, "b.npy", NULL);
//
// A permutation object describes the reordering. There are two families. An axis permutation stores the axes
// of an array of any shape in another order. A BMMC permutation sends element x of 2^n to A x ^ c. Here x is
// a vector of n bits, A is a nonsingular matrix of bits, and sums are exclusive or. Examples are bit
// reversal, Gray code, Morton order and shuffles.
//
// Results. Functions that can fail return XORDER_OK, which is 0, or a negative code. After a failure
// xorder_last_error() says in one line what was wrong, where, and what would be right. A function that makes
// an object sets *out to NULL when it fails. The library prints nothing, never ends the process, and no
// exception leaves it.
//
// Free an object with the function whose name ends in _free; NULL is allowed. An object copies what it needs
// from its arguments, so these may be freed or changed afterwards. A text that a function returns belongs to
// the object.
//
// Threads. Any number of threads may use one xorder_permutation, xorder_plan or xorder_layout at the same
// time. Only one thread at a time may use an xorder_job. Each thread has its own last error. The library
// starts threads of its own, fewer where the system allows fewer, and keeps some of them asleep for later
// calls. It does not touch a host's TBB. After fork() the child may use everything that no other thread was
// using.
//
// Compatibility. New functions, codes and members of structs are added at the end. What is here keeps its
// meaning as long as the shared library is called libxorder.so.0.
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

// ---- Version ----------------------------------------------------------------------------------------------

#define XORDER_VERSION_MAJOR 0
#define XORDER_VERSION_MINOR 1
#define XORDER_VERSION_PATCH 0
/// The version of this header: 10203 is version 1.2.3.
#define XORDER_VERSION (XORDER_VERSION_MAJOR * 10000 + XORDER_VERSION_MINOR * 100 + XORDER_VERSION_PATCH)

/// XORDER_VERSION of the loaded library, which may be newer than this header.
XORDER_API int xorder_version(void);
/// The same as a text, "1.2.3".
XORDER_API const char* xorder_version_string(void);

// ---- Errors -----------------------------------------------------------------------------------------------

enum xorder_status {
  XORDER_OK = 0,
  /// The call is wrong whatever the data: NULL in place of an object, a number outside the range that the
  /// function requires, an options struct of an unknown size.
  XORDER_ERROR_ARGUMENT = -1,
  /// The request cannot be carried out: a bad shape or expression, a missing or malformed file, an output
  /// that exists, no room on the disk. No output was made.
  XORDER_ERROR_INPUT = -2,
  /// A system call failed while data were moved, or an input changed, be it only its ctime by chmod, link,
  /// rename or remove. Nothing of the output is left, with two exceptions: see xorder_job_run().
  XORDER_ERROR_IO = -3,
  /// The progress function requested it. Nothing of the output is left.
  XORDER_ERROR_CANCELLED = -4,
  /// The call could not allocate memory. It has made nothing and changed nothing, with one exception: see
  /// xorder_plan_execute().
  XORDER_ERROR_MEMORY = -5,
  /// Anything else, such as a thread that could not be started.
  XORDER_ERROR_INTERNAL = -6
};

/// A few words for a status, "bad input". Never NULL.
XORDER_API const char* xorder_status_text(int status);
/// The message of this thread's last failed call, in one line of at most 4095 bytes; "" if none has failed.
/// The text stays until the next failure in this thread. Calls that succeed do not change it. Allocates
/// nothing.
XORDER_API const char* xorder_last_error(void);
/// The errno of that failure, such as ENOENT for a missing input, EEXIST for an output that exists, or
/// ENOSPC; 0 if there is none.
XORDER_API int xorder_last_errno(void);

/// The file of this thread's last failure if that was XORDER_ERROR_IO, be it a scratch file; otherwise "".
XORDER_API const char* xorder_last_error_path(void);

// ---- Permutations -----------------------------------------------------------------------------------------

/// A permutation of an array, whose elements are moved whole. Immutable. Takes a few KiB.
typedef struct xorder_permutation xorder_permutation;

/// The largest number of axes.
#define XORDER_MAX_RANK 64

/// Stores the axes of an array in another order, as numpy.transpose does: axis i of the target is axis
/// axes[i] of the source, so its extent is shape[axes[i]]. Both arrays are row-major: their last axis is the
/// fastest. NULL for `axes` reverses the axes, which transposes a matrix. Negative axes count from the end.
/// Requires `shape`, and `axes` if given, to have `rank` entries, 0 to XORDER_MAX_RANK; extents may be 0. The
/// array must have less than 2^63 bytes.
/// XORDER_ERROR_ARGUMENT: `rank` is out of range; `shape` is NULL.
/// XORDER_ERROR_INPUT: `axes` is not a permutation of the axes; the array is too large; element_bytes is 0.
XORDER_API int xorder_permutation_axes(xorder_permutation** out, int rank, const uint64_t* shape,
                                       const int* axes, uint64_t element_bytes);

/// Moves element x of 2^n to A x ^ complement. columns[j] is column j of A as a number: its bit i is A's row
/// i. So A x is the exclusive or of the columns that the bits of x select. Source bit j contributes to the
/// target bits in columns[j].
/// Requires 0 <= n <= 62 and `columns` to have n entries. The array must have less than 2^63 bytes.
/// XORDER_ERROR_ARGUMENT: n is out of range; `columns` is NULL.
/// XORDER_ERROR_INPUT: A is singular; a column or the complement has bits beyond n; the array is too large;
/// element_bytes is 0.
XORDER_API int xorder_permutation_bmmc(xorder_permutation** out, int n, const uint64_t* columns,
                                       uint64_t complement, uint64_t element_bytes);

/// The BMMC permutation of 2^n elements that an expression names. "gray^-1 * bitreverse" reverses the bits of
/// every index and then undoes a Gray code: as with functions, the right factor acts first. The names are:
///   identity  reverse  bitreverse  gray  transpose(lgR,lgC)  shuffle  unshuffle  rotate(k)  morton(d)
///   bits(i,j,..)  xor(c)
/// Requires 0 <= n <= 62.
/// XORDER_ERROR_ARGUMENT: n is out of range; `text` is NULL.
/// XORDER_ERROR_INPUT: the text is not an expression (the message says at which character), or does not
/// fit n; the array is too large; element_bytes is 0.
XORDER_API int xorder_permutation_expression(xorder_permutation** out, const char* text, int n,
                                             uint64_t element_bytes);

/// Applies a BMMC permutation along one axis of a row-major array, at every place of the other axes:
/// "bitreverse" along axis 1 reverses the index bits in each row of a matrix. The size of an element is that
/// of `map`, which remains the caller's. A negative axis counts from the end.
/// Requires `shape` to have `rank` entries, 0 to XORDER_MAX_RANK.
/// XORDER_ERROR_ARGUMENT: `map` was not made by xorder_permutation_bmmc or _expression; `rank` is out of
/// range; `shape` is NULL.
/// XORDER_ERROR_INPUT: there is no such axis, its extent is not the number of elements of `map`, or the array
/// is too large.
XORDER_API int xorder_permutation_along_axis(xorder_permutation** out, const xorder_permutation* map,
                                             int rank, const uint64_t* shape, int axis);

/// The size of the array in bytes; 0 for NULL.
XORDER_API uint64_t xorder_permutation_bytes(const xorder_permutation* permutation);
/// The target of element `source`. Both are row-major element numbers. UINT64_MAX if there is no such
/// element. It costs one division for each axis, so use it for checks, not for moving arrays.
XORDER_API uint64_t xorder_permutation_target(const xorder_permutation* permutation, uint64_t source);

/// The matrix of a map, the rank of its lower left part for each block size, its inverse and, if `block` is
/// not 0, its passes with blocks of so many elements in memory for `memory` elements (0: enough for one
/// pass), as one JSON object, with the keys that docs/json.md lists for `xorder show`. Stores in *length the
/// bytes of the text without its end, and in `text` the first room - 1 of them with a '\0' behind; `text` may
/// be NULL if `room` is 0.
/// XORDER_ERROR_INPUT: the permutation is of axes, or maps only one; a number is no power of two, or too
/// large.
XORDER_API int xorder_permutation_json(const xorder_permutation* permutation, uint64_t block, uint64_t memory,
                                       char* text, size_t room, size_t* length);

/// The drawing of `xorder show --svg` as an SVG document with this title; `block` and the text are as for
/// xorder_permutation_json().
XORDER_API int xorder_permutation_svg(const xorder_permutation* permutation, const char* title,
                                      uint64_t block, char* text, size_t room, size_t* length);

XORDER_API void xorder_permutation_free(xorder_permutation* permutation);

// ---- In memory --------------------------------------------------------------------------------------------

/// A plan for a permutation in memory. Immutable. Takes a few KiB; with several short axes up to 100 KiB.
typedef struct xorder_plan xorder_plan;

/// Makes a plan. Takes some microseconds.
XORDER_API int xorder_plan_create(xorder_plan** out, const xorder_permutation* permutation);

/// Makes a plan for arrays that may be parts of larger ones, or lie backwards. A step along axis i of the
/// source goes on by source_strides[i] bytes, which may be negative. A step along axis i of the target goes
/// on by target_strides[i]; that is the source's axis axes[i]. NULL means an array without gaps in C order.
/// xorder_plan_execute() then takes pointers to the elements with all indices 0. It writes nothing between
/// the elements of the target, but may read what lies between those of the source. Takes some microseconds.
/// Long rows of the source, and long runs of the target, are as fast as without gaps.
/// Requires strides, if given, to have one entry for each axis; those of axes of extent 1 do not matter.
/// XORDER_ERROR_ARGUMENT: `permutation` was not made by xorder_permutation_axes().
/// XORDER_ERROR_INPUT: elements overlap or interleave: a step must pass by all that the axes with shorter
/// steps reach, and so it cannot be 0.
XORDER_API int xorder_plan_create_strided(xorder_plan** out, const xorder_permutation* permutation,
                                          const int64_t* source_strides, const int64_t* target_strides);

/// Permutes `source` into `target`, which both have xorder_permutation_bytes() bytes. Several threads may
/// execute one plan at the same time, each with its own target. `threads` is the number of threads, at most
/// 1024; 0 means one for each processor. Fewer are used where there are fewer processors, all calls together,
/// or where the system allows fewer. The calling thread permutes arrays below 2 MiB alone.
/// Requires the arrays not to overlap, but with strides the elements of one may lie between those of the
/// other, as in two parts of one matrix; they may be NULL if they are empty. Arrays on huge pages and at
/// multiples of 64 bytes are faster.
/// Reads and writes every byte about once, almost as fast as memcpy. Allocates at most about the size of a
/// second-level cache for each thread.
/// XORDER_ERROR_MEMORY: there is no memory for that; the content of `target` is then undefined.
/// XORDER_ERROR_ARGUMENT: the arrays overlap, an array is NULL, `threads` is out of range.
XORDER_API int xorder_plan_execute(const xorder_plan* plan, const void* source, void* target, int threads);

/// The same in place. The exchange of two axes of one extent (a square transposition), maps that permute
/// tiles (bit reversal and every other map that is its own inverse, Gray code), and batches of parts of up to
/// 2 MiB, or 4 MiB if the third-level cache has 32 MiB, read and write the array once; all other maps of at
/// least 64 bytes, of elements of 1, 2, 4, 8, 16, 32 .. bytes, do so twice. They need up to about 4 MiB for
/// each thread and 2 MiB for all. A matrix of any other shape is read and written twice as well, and needs
/// mostly 1/64 of its size, up to 1/20 for small ones of small elements, and up to 4 MiB for each thread
/// (more if its shorter side has many thousand elements: at most 192 bytes for each, or its own size); three
/// axes reversed are two such matrices. All other permutations, and small arrays that would be written
/// twice, go into a second array, allocated here, and are copied back, batches part by part. Batches also
/// take the buffers of xorder_plan_execute(); without memory for these they are finished element by element.
/// XORDER_ERROR_INPUT: the plan was made by xorder_plan_create_strided().
/// XORDER_ERROR_MEMORY: there is no memory for that; `array` is unchanged. With several
/// threads and at least 2 MiB, the call also allocates some KiB while it works. If that fails, the content of
/// `array` is undefined.
XORDER_API int xorder_plan_execute_in_place(const xorder_plan* plan, void* array, int threads);

/// The kind of tiles and their sizes, as one line of text for people. Lives as long as the plan; "" for NULL.
XORDER_API const char* xorder_plan_text(const xorder_plan* plan);

XORDER_API void xorder_plan_free(xorder_plan* plan);

// ---- Arrays in files --------------------------------------------------------------------------------------

/// A layout says where an array lies in a file: at which offset, with which type, shape and strides, as in
/// NumPy. It is immutable and keeps its file open. Any number of threads and jobs may use it at the same
/// time.
typedef struct xorder_layout xorder_layout;

/// The array of a file that says what it holds: .npy, FITS, NetCDF classic, NIfTI or ENVI; FILE:NAME is one
/// of several. Reads headers only.
/// XORDER_ERROR_INPUT: the file cannot be read, or holds no array that can be.
XORDER_API int xorder_layout_open(xorder_layout** out, const char* path);

/// An array in any file, whatever its first bytes are: its element with all indices 0 begins at byte
/// `offset`, and a step along axis i goes on by strides[i] bytes, which may be negative. NULL for `strides`
/// means row-major without gaps. `dtype` is a type as a user writes it, "f8", or as the header of an .npy
/// file has it: "<f8" or, in Python's syntax, a list of fields.
/// Requires `shape`, and `strides` if given, to have `rank` entries, 0 to XORDER_MAX_RANK.
/// XORDER_ERROR_ARGUMENT: `rank` is out of range; `path`, `dtype` or `shape` is NULL.
/// XORDER_ERROR_INPUT: the file cannot be read; there is no such type; an element lies outside the file;
/// elements overlap or interleave: a step must pass by all that the axes with shorter steps reach.
XORDER_API int xorder_layout_strided(xorder_layout** out, const char* path, uint64_t offset,
                                     const char* dtype, int rank, const uint64_t* shape,
                                     const int64_t* strides);

/// The layout as one JSON object, with the keys that docs/json.md lists for `xorder info`. Lives as long as
/// the layout; "" for NULL.
XORDER_API const char* xorder_layout_json(const xorder_layout* layout);
/// The path of the file in which the elements lie. Lives as long as the layout; "" for NULL.
XORDER_API const char* xorder_layout_path(const xorder_layout* layout);

XORDER_API void xorder_layout_free(xorder_layout* layout);

// ---- From file to file ------------------------------------------------------------------------------------

/// Reads the header of an .npy file, to make a permutation for it: the number of axes, their extents as NumPy
/// shows them, and the size of an element. Here and in xorder_job_npy(), the file may also be a FITS, NetCDF,
/// HDF5, NIfTI or ENVI file, or FILE:NAME for one of its arrays.
/// Requires room for XORDER_MAX_RANK entries in `shape`. A pointer may be NULL if its value is not needed.
/// Stores nothing if it fails.
/// XORDER_ERROR_INPUT: the file cannot be read, or holds no array that can be.
XORDER_API int xorder_npy_shape(const char* path, int* rank, uint64_t* shape, uint64_t* element_bytes);

/// How the files are accessed. The result is the same.
enum xorder_access {
  XORDER_ACCESS_AUTO = 0,    ///< whichever suits the sizes and what is in the page cache
  XORDER_ACCESS_DIRECT = 1,  ///< past the page cache (O_DIRECT)
  /// OUT and scratch files through mapped windows, the input by system calls: if somebody truncates the
  /// input meanwhile, the job fails, and no SIGBUS ends the program.
  XORDER_ACCESS_MAPPED = 2
};

/// Options of a job. A member that is 0 or NULL means the default, so this is enough:
///     xorder_options options = {0};
///     options.size = sizeof options;
///     options.memory = (uint64_t)1 << 30;
/// A program with an older header runs with a newer library, but not the other way round.
typedef struct xorder_options {
  /// sizeof(xorder_options) in the calling program. More than the library's own is XORDER_ERROR_ARGUMENT.
  size_t size;
  /// Bytes for everything that grows with the data, at least 16 MiB. The library itself needs up to 40 MiB
  /// more. Always capped by physical memory and cgroup limits; xorder_job_note() says so. Default: half of
  /// the available memory.
  uint64_t memory;
  /// Threads that permute, at most 1024. Default: one for each processor.
  int threads;
  /// An xorder_access.
  int access;
  /// If not 0, an existing output is replaced when the new one is complete.
  int overwrite;
  /// Must be 0.
  int reserved;
  /// Directory for scratch files of plans with several passes. Default: the output's directory.
  const char* scratch_directory;
  /// The device profile, for choosing block sizes: "ssd", "hdd", "tmpfs", or the path of a profile.
  /// Default: what `xorder bench disk` measured for the output's file system, or else "tmpfs" within tmpfs,
  /// "hdd" if the kernel calls the input's disk rotational and trial reads of the input take as long as
  /// seeks, and "ssd" elsewhere. Reads from another file system are priced with that one's profile.
  const char* device;
  /// If not 0, a run that is killed or stopped can go on: by xorder_job_resume(), by the same job made again,
  /// or by `xorder resume`. What it has begun stays beside the output and in the scratch directory until
  /// then, and `xorder discard` removes it. Computations of files go on by the same job made again only.
  /// Not for functions of your own (xorder_job_descend()) and xorder_job_in_place().
  int resumable;
} xorder_options;

/// Transposes the array of a file that says what it holds into a new file: axis i of the output is axis
/// axes[i] of the input, as numpy.transpose() does. NULL for `axes`, or rank 0, reverses the axes. NULL for
/// `options` means the defaults. The same as xorder_job_npy() and xorder_job_run(); returns their errors.
/// XORDER_ERROR_ARGUMENT: `rank` is out of range; `input` or `output` is NULL.
/// XORDER_ERROR_INPUT also: `axes` is not a permutation of the input's axes.
XORDER_API int xorder_transpose_file(const char* input, const char* output, int rank, const int* axes,
                                     const xorder_options* options);

/// A job permutes the array in one file into another file.
typedef struct xorder_job xorder_job;

/// A job on raw files. The array begins at byte input_offset of `input` and fills the rest of it (where it
/// does not, use xorder_layout_strided() with NULL for strides, and xorder_job_layout()). It is
/// written at byte output_offset of `output`, a new file. The bytes before it are 0; the caller may fill them
/// in later. An output whose name ends in .npy gets a header instead, with the type '|V' and the size of an
/// element; output_offset must then be 0. So does one that ends in .h5, or is a.h5:/g/x, if output_offset is
/// 0. A name that means another format, such as a.tif, needs an output_offset, for a header of the caller's.
/// NULL for `options` means the defaults. Opens the input, makes the plan (some milliseconds, no more than a
/// few MiB), and checks everything that can be checked without making a file. Keeps the input open.
/// XORDER_ERROR_ARGUMENT: a required pointer is NULL, or `options` has an unknown size or value.
/// XORDER_ERROR_INPUT: the input cannot be read or has another size; the output exists and may not be
/// overwritten, is the input, cannot be made, does not fit on the disk, or has the name of a format that is
/// not written; no tile fits in the memory.
XORDER_API int xorder_job_raw(xorder_job** out, const xorder_permutation* permutation, const char* input,
                              uint64_t input_offset, const char* output, uint64_t output_offset,
                              const xorder_options* options);

/// A job on .npy files, in C or Fortran order; the output is in C order and has the input's element type. An
/// output whose name ends in .raw, .bin or .dat has no header. An axis permutation, and a map along an axis,
/// need the input's shape. A BMMC permutation accepts every shape of 2^n elements, counts them in C order,
/// and gives the output the same shape; but if it is of an expression with morton(d), arrays of several axes
/// (not counting those of extent 1) must have d equal ones. Bytes of the file behind the array are left out,
/// with a note (xorder_job_note()). Everything else is as for xorder_job_raw().
/// XORDER_ERROR_INPUT also: the input holds no array that can be read, or its shape or element size is not
/// the permutation's.
XORDER_API int xorder_job_npy(xorder_job** out, const xorder_permutation* permutation, const char* input,
                              const char* output, const xorder_options* options);

/// A job on the array of a layout, which may have gaps and lie in any order of its axes. The output is in C
/// order and has the layout's element type. It is an .npy file; but an output whose name ends in .raw, .bin
/// or .dat has no header. The permutation must be made for the layout's shape as for xorder_job_npy(). A
/// permutation that keeps the axes in their order, xorder_permutation_axes() with 0, 1, .., copies the
/// array into C order. The job fails if the file has changed since the layout was made. Everything else is
/// as for xorder_job_raw().
/// XORDER_ERROR_INPUT also: the layout's shape or element size is not the permutation's.
XORDER_API int xorder_job_layout(xorder_job** out, const xorder_permutation* permutation,
                                 const xorder_layout* input, const char* output,
                                 const xorder_options* options);

/// A job like xorder_job_layout() whose output is a part of an existing file, such as a dataset in a file of
/// any format: it overwrites the bytes from output_offset on with the result, in C order without gaps, and
/// leaves all others as they are. The file's name does not matter, and options->overwrite neither. If a run
/// fails, the content of the part is undefined.
/// XORDER_ERROR_INPUT also: the file does not exist, may not be written, is the input, or ends before the
/// part does.
XORDER_API int xorder_job_into(xorder_job** out, const xorder_permutation* permutation,
                               const xorder_layout* input, const char* output, uint64_t output_offset,
                               const xorder_options* options);

/// Iteration b of a computation for `count` consecutive records from index `first` on: writes to `out` what
/// f_b makes of each record of `x` and of those at the same place of `plus` (2^b further) and `minus` (2^b
/// before, both modulo the number of records). `out` overlaps none of them. `user` is the argument of
/// xorder_job_descend(). Several threads call it at once, and again for the same records. It must return.
typedef void (*xorder_step_function)(int b, uint64_t first, uint64_t count, const void* x, const void* plus,
                                     const void* minus, void* out, void* user);

/// A job that computes a[i] = f_b(a[i], a[i + 2^b], a[i - 2^b]) for b = n-1 down to 0, or from 0 up if
/// `ascends` is not 0, on the 2^n elements of a file that xorder_job_npy() reads, in C order. A record is an
/// element. The output has the input's type and shape. Reads and writes all data twice, more with little
/// memory, once if the file is small. Everything else is as for xorder_job_raw(). (xorder/descend/descend.hpp
/// explains the class, which has prefix sums and cyclic reduction.)
/// XORDER_ERROR_INPUT also: there are not 2^n elements.
XORDER_API int xorder_job_descend(xorder_job** out, int ascends, xorder_step_function step, void* user,
                                  const char* input, const char* output, const xorder_options* options);

/// Whether a new file of this name gets the header of an .npy file (1) or none (0), as xorder_job_layout()
/// decides it.
/// XORDER_ERROR_INPUT: the name means another format: a.tif; or a.h5, which only jobs write.
XORDER_API int xorder_output_format(const char* path, int* npy);

/// The plan as lines of text for people: the passes, tiles and blocks in which the data will be moved, the
/// memory, and the predicted time. Lives as long as the job; "" for NULL.
XORDER_API const char* xorder_job_plan_text(const xorder_job* job);
/// The plan as one JSON object, whose keys docs/json.md lists: sizes, passes, predicted seconds. Lives as
/// long as the job; "" for NULL.
XORDER_API const char* xorder_job_plan_json(const xorder_job* job);

/// The progress of a run.
typedef struct xorder_progress {
  uint64_t bytes_done;   ///< read and written so far, in all passes; it never decreases
  uint64_t bytes_total;  ///< its value at the end
  int pass, passes;      ///< the current pass, from 1, and the number of passes
} xorder_progress;

/// Called by the thread that called xorder_job_run(), many times per second. `user` is the argument of that
/// call. It returns 0 to go on; anything else ends the run. It must return: longjmp() out of it is not
/// allowed.
typedef int (*xorder_progress_function)(const xorder_progress* progress, void* user);

/// Reserves the output's space, moves the data, checks that the input has not changed meanwhile, syncs the
/// output and gives it its name. A new output gets no wider permissions than the input. Blocks until all is
/// done. `progress` may be NULL. Its last call comes when all is done, and its return value is then ignored.
/// Reads and writes all data once for each pass. Allocates the memory that the plan says, and frees it at the
/// end. May be called again, which makes the output again, if options.overwrite allows it. Any error leaves
/// the output's name as it was and no file behind. (There are two exceptions, of which the message says that
/// the output is complete: its directory could not be synced, so that it may not survive a crash of the
/// machine; or its directory was moved meanwhile.)
/// XORDER_ERROR_CANCELLED: the progress function did not return 0.
XORDER_API int xorder_job_run(xorder_job* job, xorder_progress_function progress, void* user);

/// The report of the last run as one JSON object, whose keys docs/json.md lists. "" if that run failed or
/// there was none. Lives until the next run or xorder_job_free().
XORDER_API const char* xorder_job_report_json(const xorder_job* job);
/// A note, in one line, about requests that could not be met, such as direct access that the file system
/// refuses, and about scratch files for which there is no room; otherwise "". It is complete after the run,
/// and then also says whether a run that failed can go on, or has left a file half done.
/// Lives until the next run or xorder_job_free().
XORDER_API const char* xorder_job_note(const xorder_job* job);

XORDER_API void xorder_job_free(xorder_job* job);

/// The same as xorder_job_layout(), but for a file without a header. The data begin at byte output_offset;
/// the bytes before it are 0, and the caller may fill them in later. The data are in Fortran order if
/// `fortran` is not 0.
/// XORDER_ERROR_INPUT also: a file of that name has a header of its own, as .npy.
XORDER_API int xorder_job_layout_raw(xorder_job** out, const xorder_permutation* permutation,
                                     const xorder_layout* input, const char* output, uint64_t output_offset,
                                     int fortran, const xorder_options* options);

/// A job on several arrays that are one, as numpy.stack joins them along a new axis, if `stacked` is not 0,
/// or numpy.concatenate along one that they have. The permutation is for the shape of the whole; one that
/// keeps the axes in their order just joins them. The arrays have one type and shape, and their axes lie in
/// the same order; but if they are concatenated along the slowest axis of each, their extents along it may
/// differ. A negative axis counts from the end. Everything else is as for xorder_job_layout().
/// Requires `inputs` to have `count` entries. Each file takes up to five descriptors.
/// XORDER_ERROR_ARGUMENT: `count` is 0, or an input is NULL.
/// XORDER_ERROR_INPUT also: the arrays do not fit together, or there is no such axis.
XORDER_API int xorder_job_joined(xorder_job** out, const xorder_permutation* permutation, int stacked,
                                 int axis, const xorder_layout* const* inputs, size_t count,
                                 const char* output, const xorder_options* options);

/// A job that reorders the array of a file within that file, without a second one. The array is whole, in C
/// or Fortran order, in an .npy or raw file. If the shape changes, so does the header of an .npy file. What
/// is about to be overwritten is first copied to an undo area in the scratch directory, of at most 1 GiB. If
/// the run fails or is killed, the file may be half done: xorder_job_note() says so, then xorder_job_resume()
/// finishes it, xorder_job_roll_back() restores it, and all other jobs refuse it. A run changes the file, so
/// a layout of it serves no other job afterwards.
/// XORDER_ERROR_INPUT: the permutation is not for the layout's shape; there is no plan for so little memory;
/// the header has no room for the new shape; an option is for an output; the file is half done.
XORDER_API int xorder_job_in_place(xorder_job** out, const xorder_permutation* permutation,
                                   const xorder_layout* file, const xorder_options* options);

/// Makes the job again whose run has not ended, whoever began it, this library or the program: a resumable
/// one that makes `path`, or one in place in that file. Its options are those of the run. xorder_job_run()
/// goes on and does not do again what is finished.
/// XORDER_ERROR_INPUT: there is no such run, or it is still going on; an input has changed since, or is not
/// where it was.
XORDER_API int xorder_job_resume(xorder_job** out, const char* path);
/// The same for a run in place, but xorder_job_run() puts back what has been moved.
XORDER_API int xorder_job_roll_back(xorder_job** out, const char* path);

/// As xorder_step_function, but it returns 0 to go on. Anything else ends the run, with
/// XORDER_ERROR_CANCELLED.
typedef int (*xorder_checked_step_function)(int b, uint64_t first, uint64_t count, const void* x,
                                            const void* plus, const void* minus, void* out, void* user);

/// The same as xorder_job_descend(), for an array without gaps in C order.
XORDER_API int xorder_job_compute(xorder_job** out, int ascends, xorder_checked_step_function step,
                                  void* user, const xorder_layout* input, const char* output,
                                  const xorder_options* options);

/// A job that makes element i of the sum, as `operation` names it, of elements 0 to i: "sum", "prod", "min",
/// "max" or "xor". In the type itself: integers wrap around. Floating-point numbers are added in an order
/// that depends only on how many there are. The result has one axis. Like the next three, it is for arrays
/// without gaps in C order, and everything else is as for xorder_job_descend(), but for any number of
/// elements.
/// XORDER_ERROR_INPUT also: there is no such operation, or not for the type; it is for integers, bool, f4 and
/// f8, "sum" and "prod" also for c8 and c16, and "xor" not for floating-point numbers.
XORDER_API int xorder_job_scan(xorder_job** out, const char* operation, const xorder_layout* input,
                               const char* output, const xorder_options* options);

/// A job that moves element i to i + distance, modulo their number, as numpy.roll. Reads and writes all data
/// once, whatever their number and type.
XORDER_API int xorder_job_shift(xorder_job** out, int64_t distance, const xorder_layout* input,
                                const char* output, const xorder_options* options);

/// A job that merges two sorted halves of 2^n integers, bools, f4 or f8 into one sorted array of one axis.
/// XORDER_ERROR_INPUT also, by xorder_job_run(): a half is not in ascending order, or has a NaN.
XORDER_API int xorder_job_merge(xorder_job** out, const xorder_layout* input, const char* output,
                                const xorder_options* options);

/// A job that solves a tridiagonal system of 2^n rows by cyclic reduction: row i is a x[i-1] + b x[i] +
/// c x[i+1] = d. The four inputs are a, b, c and d, all f4 or all f8; a of the first row and c of the last do
/// not matter. There is no pivoting.
/// XORDER_ERROR_INPUT also, by xorder_job_run(): a pivot vanishes, which no diagonally dominant matrix has.
XORDER_API int xorder_job_tridiagonal(xorder_job** out, const xorder_layout* const* inputs,
                                      const char* output, const xorder_options* options);

/// How far a run that has not ended has come: whether it is `running`, `bytes_done` of `bytes_total`, and
/// others, as one JSON object, with the keys that docs/json.md lists for `xorder status`. `path` is its
/// output, or the file in place. The text is as for xorder_permutation_json().
/// XORDER_ERROR_INPUT: there is no journal of such a run.
XORDER_API int xorder_journal_json(const char* path, char* text, size_t room, size_t* length);

/// Removes the files of a run that has not ended.
/// XORDER_ERROR_INPUT: there are none, the run is still going on, or it is in place.
XORDER_API int xorder_journal_discard(const char* path);

/// A part of a file in which something differs. Both ends are the first byte and element behind it; elements
/// count in the order of the file.
typedef struct xorder_difference {
  uint64_t first_byte, end_byte;
  uint64_t first_element, end_element;
} xorder_difference;

/// Tells whether `result` holds what the permutation makes of `source`, whoever made it. Stores in *count the
/// number of places where it does not, so 0 if it does, and in `differences` the first `room` of them. There
/// are at most 2048. `differences` may be NULL if `room` is 0. The elements of `result` follow each other, in
/// C or Fortran order. Reads each file once, past the page cache where the file system allows it. Of the
/// options, memory (some 16 MiB are used) and threads matter. `progress` and `user` are as for
/// xorder_job_run(). A difference goes unnoticed with a probability of at most 2^-62.
/// XORDER_ERROR_INPUT: the permutation is not for the shape of `source`; `result` has another type or shape
/// than the permutation makes, or gaps.
/// XORDER_ERROR_IO: a file could not be read, or changed meanwhile.
/// XORDER_ERROR_CANCELLED: the progress function did not return 0.
XORDER_API int xorder_verify(const xorder_permutation* permutation, const xorder_layout* source,
                             const xorder_layout* result, const xorder_options* options,
                             xorder_progress_function progress, void* user, xorder_difference* differences,
                             size_t room, size_t* count);

/// Hashes of a file's pieces, to find later decay: the text that `xorder transpose --checksum FILE` writes.
/// Reads the file once. `options` matters as for xorder_verify(), `progress` and `user` are as for
/// xorder_job_run(), and the text is as for xorder_permutation_json(). For n MiB, rounded up,
/// 100 + 33 (n + 1) bytes are room enough.
XORDER_API int xorder_checksum(const char* path, const xorder_options* options,
                               xorder_progress_function progress, void* user, char* text, size_t room,
                               size_t* length);

/// Whether a file still is what it was when a text of xorder_checksum() was made. Stores in *count the number
/// of ranges in which it is not, and the first `room` of them in `differences`, without elements; NULL if
/// `room` is 0. `name` is what messages call the text.
/// XORDER_ERROR_INPUT: the text is none of xorder_checksum().
XORDER_API int xorder_checksum_compare(const char* path, const char* checksum, const char* name,
                                       const xorder_options* options, xorder_progress_function progress,
                                       void* user, xorder_difference* differences, size_t room,
                                       size_t* count);

// ---- Schedules --------------------------------------------------------------------------------------------

/// Which messages virtual processors (nodes) send each other in which step. Immutable, but for
/// xorder_schedule_check(). docs/schedules.md explains them.
typedef struct xorder_schedule xorder_schedule;

/// Which nodes are neighbours. A size goes with it.
enum xorder_network {
  XORDER_NETWORK_HYPERCUBE = 0,  ///< 2^size nodes
  XORDER_NETWORK_MESH = 1,       ///< size x size nodes, in rows and columns
  XORDER_NETWORK_TORUS = 2,      ///< the same, but rows and columns wrap around
  XORDER_NETWORK_CROSSBAR = 3    ///< 2^size nodes that all reach each other
};

/// What has to arrive where.
enum xorder_task {
  XORDER_TASK_NONE = 0,  ///< nothing is said of that; only for xorder_schedule_read()
  /// Slot j of node i trades places with slot i of node j; on a mesh or a torus node (i, j) with node (j, i).
  XORDER_TASK_TRANSPOSITION = 1,
  /// Slot j of node i of P is word i P + j of P^2 words, which are bit-reversed.
  XORDER_TASK_BIT_REVERSAL = 2
};

/// The schedule for a task: a total exchange on a hypercube, in the fewest steps that there can be, or the
/// transposition on a mesh or a torus with wormhole switching, in the fewest known.
/// XORDER_ERROR_ARGUMENT: there is no such task or network.
/// XORDER_ERROR_INPUT: there is no schedule for that; there would be more than 2^20 nodes.
XORDER_API int xorder_schedule_create(xorder_schedule** out, int task, int network, uint64_t size);

/// A schedule for any packets on a hypercube of 2^dimension nodes with so many slots, found by search. Each
/// packet is four numbers: the node and the slot where it lies, and those where it has to go.
/// Takes some microseconds for each link that a packet crosses.
/// XORDER_ERROR_INPUT: a packet is not between such places, two have the same source or target, one changes
/// its slot on its node, or there are too many.
XORDER_API int xorder_schedule_search(xorder_schedule** out, int dimension, uint64_t slots,
                                      const uint64_t* packets, size_t count);

/// A schedule of one's own: lines of JSON as `xorder schedule --messages` writes them. `name` is what
/// messages call the text. What xorder_schedule_check() finds is not looked for.
/// XORDER_ERROR_INPUT: a line is no message on this network, or too much for it; the task does not fit it.
XORDER_API int xorder_schedule_read(xorder_schedule** out, const char* text, const char* name, int network,
                                    uint64_t size, int task);

/// Its nodes, slots of each, steps, lower_bound, links of the network, messages and crossings of links, as
/// one JSON object, with the keys that docs/json.md lists. Lives as long as the schedule; "" for NULL.
XORDER_API const char* xorder_schedule_json(const xorder_schedule* schedule);

/// What lies in a slot of a node is copied to another place.
typedef struct xorder_message {
  uint64_t from_node, from_slot;
  uint64_t to_node, to_slot;
  uint64_t via;    ///< the node where its path turns first, or to_node; xorder_schedule_paths() has all
  uint64_t links;  ///< that its path has
} xorder_message;

/// Stores in *count how many messages a step has, and the first `room` of them in `messages`, which may be
/// NULL if `room` is 0.
/// XORDER_ERROR_ARGUMENT: there is no such step.
XORDER_API int xorder_schedule_messages(const xorder_schedule* schedule, uint64_t step,
                                        xorder_message* messages, size_t room, size_t* count);

/// The paths of these messages: the nodes of each, both ends included, one path behind the other. A message
/// has links + 1 of them. Stores in *count how many there are in all, and the first `room` of them in
/// `nodes`, which may be NULL if `room` is 0.
/// XORDER_ERROR_ARGUMENT: there is no such step.
XORDER_API int xorder_schedule_paths(const xorder_schedule* schedule, uint64_t step, uint64_t* nodes,
                                     size_t room, size_t* count);

/// Carries labels through all steps, without knowing what made the schedule, and watches the links. Stores in
/// *json one JSON object: whether the schedule is `correct` and `complete`, its `conflicts` and `faults`, and
/// others that docs/json.md lists. The text lives until the next check or xorder_schedule_free(). Takes time
/// proportional to the messages. Only one thread at a time may check a schedule.
/// XORDER_ERROR_INPUT: there are more than 2^24 slots in all.
XORDER_API int xorder_schedule_check(xorder_schedule* schedule, const char** json);

/// A drawing as an SVG document with this title: steps down, links across, or, of a mesh or a torus, the
/// paths of each step. The text is as for xorder_permutation_json().
/// XORDER_ERROR_INPUT: there are more than 512 steps or links in a row, or more than 40 x 40 nodes on a mesh.
XORDER_API int xorder_schedule_svg(const xorder_schedule* schedule, const char* title, char* text,
                                   size_t room, size_t* length);

XORDER_API void xorder_schedule_free(xorder_schedule* schedule);

#ifdef __cplusplus
}
#endif

#endif
