// The long form of a test: the same faults, more of them. tools/soak runs it.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace xorder::test {

/// 0: the short form. The long one is XORDER_TEST_LONG=1; 2 is twice as long.
inline int long_form() {
  const char* const given = std::getenv("XORDER_TEST_LONG");
  return given != nullptr ? std::atoi(given) : 0;
}

/// How often a test does what it does: `few` times, or `many` in the long form.
inline int rounds(int few, int many) { return long_form() > 0 ? long_form() * many : few; }

/// Says in the long form how many faults of a kind were met as they should; tools/soak adds them up.
inline void tally(long count, const char* what) {
  if (long_form() > 0) std::printf("TALLY %ld %s\n", count, what);
}

}  // namespace xorder::test
