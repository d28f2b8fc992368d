// Sanitizers make tests several times as slow, so the longest do less there.
#pragma once

namespace xorder::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How often a long test repeats what it does with random numbers: `count` times, or a fifth of that with
/// sanitizers. Requires count ≥ 5.
constexpr int rounds(int count) { return sanitized ? count / 5 : count; }

}  // namespace xorder::test
