// To be preloaded. XORDER_REFUSED_THREAD=3: the program's third thread does not start; 3+: nor do those after it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int (*create_thread)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static atomic_long calls;
  char* end;
  const long refused = strtol(getenv("XORDER_REFUSED_THREAD"), &end, 10), call = ++calls;
  if (call == refused || (call > refused && *end == '+')) return EAGAIN;
  return ((create_thread)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, argument);
}
