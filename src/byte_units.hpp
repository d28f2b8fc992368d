// Units of sizes in bytes.
#pragma once

#include <cstdint>

namespace xorder {

inline constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB, TiB = 1024 * GiB;

}  // namespace xorder
