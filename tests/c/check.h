// Checks for the tests of the C interface, which are C99 themselves.
#ifndef XORDER_TESTS_C_CHECK_H
#define XORDER_TESTS_C_CHECK_H

#include <stdint.h>

// Whether any check failed so far.
int failed(void);

// Counts a failure and says where it was. Safe in every thread.
void fail(const char* file, int line, const char* what);

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) fail(__FILE__, __LINE__, #condition); \
  } while (0)

// A call that succeeds.
#define OK(call) expect_status(__FILE__, __LINE__, #call, (call), 0, "")
// A call that fails with this status and a message that contains this text.
#define FAILS(status, text, call) expect_status(__FILE__, __LINE__, #call, (call), (status), (text))

void expect_status(const char* file, int line, const char* call, int got, int expected, const char* text);

// A number from 0 on below `bound`; the same ones in every run.
uint64_t random_below(uint64_t bound);

// The tests, each in a file of its own.
void test_permutations(void);
void test_memory(void);
void test_jobs(const char* directory);
void test_layouts(void);  // where test_jobs() was
void test_schedules(void);
void test_fork(const char* directory);

#endif
