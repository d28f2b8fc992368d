// Copies elements between regular places in memory, in any direction, and swaps the bytes of numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xorder::kernel {

/// Element i of `count`, each of `bytes` bytes, goes from source + i · source_step to target + i ·
/// target_step. The elements of the target must not overlap each other or the source. Allocates nothing.
void gather(const std::byte* source, std::int64_t source_step, std::byte* target, std::int64_t target_step,
            std::size_t count, std::size_t bytes);

/// Reverses the bytes of each of `count` numbers, which follow each other. Allocates nothing.
void swap_numbers(std::byte* data, std::size_t count, std::size_t number_bytes);

}  // namespace xorder::kernel
