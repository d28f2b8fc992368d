// To be preloaded. XORDER_DIES_AT=3: the process kills itself before its third operation of those that decide what is left
// behind: fsync, rename, link, unlink, fallocate and flock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static void count(void) {
  static atomic_long calls;
  if (++calls == atol(getenv("XORDER_DIES_AT"))) kill(getpid(), SIGKILL);
}

#define WATCHED(name, parameters, arguments)                                   \
  int name parameters {                                                        \
    count();                                                                   \
    return ((int(*) parameters)dlsym(RTLD_NEXT, #name))arguments;              \
  }

WATCHED(fsync, (int fd), (fd))
WATCHED(renameat, (int a, const char* b, int c, const char* d), (a, b, c, d))
WATCHED(renameat2, (int a, const char* b, int c, const char* d, unsigned e), (a, b, c, d, e))
WATCHED(linkat, (int a, const char* b, int c, const char* d, int e), (a, b, c, d, e))
WATCHED(unlinkat, (int a, const char* b, int c), (a, b, c))
WATCHED(fallocate, (int a, int b, off_t c, off_t d), (a, b, c, d))
WATCHED(fallocate64, (int a, int b, off64_t c, off64_t d), (a, b, c, d))
WATCHED(flock, (int a, int b), (a, b))
