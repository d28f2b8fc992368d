// Sanitizers make tests several times as slow, so the longest do less there.
#pragma once

namespace xorder::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace xorder::test
