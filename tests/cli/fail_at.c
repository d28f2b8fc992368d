// To be preloaded. From its main() on, one of the program's calls fails, or kills it:
//   XORDER_FAILS_AT=3         the third; 3+: all from it on
//   XORDER_FAILS_IN=fsync,..  of these functions; without it, of those that decide what is left behind
//   XORDER_FAILS_WITH=28      with this errno; 0: transfers end early; without it, by SIGKILL
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static const char* names = "fsync,renameat,renameat2,linkat,unlinkat,fallocate,flock";
static const char* with;
static long at;
static int for_ever;
static atomic_long calls;
static atomic_int started;

static int is_watched(const char* name) {
  const size_t length = strlen(name);
  for (const char* found = names; (found = strstr(found, name)); found += length)
    if ((found == names || found[-1] == ',') && (found[length] == ',' || found[length] == '\0')) return 1;
  return 0;
}

// 0, or the errno with which this call is to fail; -1: it is to move less.
static int fault(const char* name) {
  if (!started || !is_watched(name)) return 0;
  const long call = ++calls;
  if (call != at && (call < at || !for_ever)) return 0;
  if (!with) kill(getpid(), SIGKILL);
  return strcmp(with, "0") == 0 ? -1 : atoi(with);
}

#define WATCHED(type, name, failed, parameters, arguments)                      \
  type name parameters {                                                        \
    const int error = fault(#name);                                             \
    if (error > 0) return errno = error, failed;                                \
    return ((type(*) parameters)dlsym(RTLD_NEXT, #name))arguments;              \
  }

WATCHED(int, fsync, -1, (int fd), (fd))
WATCHED(int, renameat, -1, (int a, const char* b, int c, const char* d), (a, b, c, d))
WATCHED(int, renameat2, -1, (int a, const char* b, int c, const char* d, unsigned e), (a, b, c, d, e))
WATCHED(int, linkat, -1, (int a, const char* b, int c, const char* d, int e), (a, b, c, d, e))
WATCHED(int, unlinkat, -1, (int a, const char* b, int c), (a, b, c))
WATCHED(int, fallocate, -1, (int a, int b, off_t c, off_t d), (a, b, c, d))
WATCHED(int, flock, -1, (int a, int b), (a, b))
WATCHED(int, ftruncate, -1, (int a, off_t b), (a, b))
WATCHED(int, sync_file_range, -1, (int a, off64_t b, off64_t c, unsigned d), (a, b, c, d))
WATCHED(void*, mmap, MAP_FAILED, (void* a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f))
WATCHED(int, madvise, -1, (void* a, size_t b, int c), (a, b, c))
WATCHED(int, pthread_create, error, (void* a, const void* b, void* c, void* d), (a, b, c, d))
WATCHED(int, io_uring_submit, -error, (void* a), (a))
WATCHED(int, io_uring_submit_and_wait, -error, (void* a, unsigned b), (a, b))
WATCHED(int, __io_uring_get_cqe, -error, (void* a, void* b, unsigned c, unsigned d, void* e), (a, b, c, d, e))

#define OPENS(name, parameters, arguments, flags)                               \
  int name parameters {                                                         \
    const int error = fault("open");                                            \
    if (error > 0) return errno = error, -1;                                    \
    mode_t mode = 0;                                                            \
    va_list more;                                                               \
    va_start(more, flags);                                                      \
    if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(more, mode_t);             \
    va_end(more);                                                               \
    return ((int(*) parameters)dlsym(RTLD_NEXT, #name))arguments;               \
  }

OPENS(open, (const char* path, int flags, ...), (path, flags, mode), flags)
OPENS(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode), flags)

#define TRANSFERS(name, class)                                                  \
  ssize_t name(int fd, const struct iovec* pieces, int count, off_t offset) {   \
    const int error = fault(class);                                             \
    if (error > 0) return errno = error, -1;                                    \
    struct iovec first = pieces[0];                                             \
    if (error < 0 && first.iov_len > 4096) first.iov_len = first.iov_len / 2 & ~(size_t)4095;      \
    return ((ssize_t(*)(int, const struct iovec*, int, off_t))dlsym(RTLD_NEXT, #name))(            \
        fd, error < 0 ? &first : pieces, error < 0 ? 1 : count, offset);        \
  }

TRANSFERS(preadv, "read")
TRANSFERS(pwritev, "write")

extern void* __libc_malloc(size_t);
extern void* __libc_memalign(size_t, size_t);
void* malloc(size_t bytes) { return fault("malloc") > 0 ? errno = ENOMEM, NULL : __libc_malloc(bytes); }
void* aligned_alloc(size_t to, size_t bytes) { return fault("malloc") > 0 ? errno = ENOMEM, NULL : __libc_memalign(to, bytes); }

static int (*program)(int, char**, char**);
static int begin(int count, char** words, char** environment) {
  char* end;
  at = strtol(getenv("XORDER_FAILS_AT"), &end, 10);
  for_ever = *end == '+';
  if (getenv("XORDER_FAILS_IN")) names = getenv("XORDER_FAILS_IN");
  with = getenv("XORDER_FAILS_WITH");
  started = 1;
  const int code = program(count, words, environment);
  if (getenv("XORDER_FAILS_COUNT")) dprintf(2, "%ld calls\n", calls);
  return code;
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*a)(void), void (*b)(void),
                      void (*c)(void), void* stack) {
  program = main;
  return ((int (*)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*))dlsym(
      RTLD_NEXT, "__libc_start_main"))(begin, count, words, a, b, c, stack);
}
