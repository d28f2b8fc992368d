#include "kernel/gather.hpp"

#include <algorithm>
#include <cstring>

#include "kernel/pieces.hpp"
#include "kernel/vectors/mirror.hpp"

namespace xorder::kernel {

void gather(const std::byte* source, std::int64_t source_step, std::byte* target, std::int64_t target_step,
            std::size_t count, std::size_t bytes) {
  const auto width = static_cast<std::int64_t>(bytes);
  if (target_step == width && source_step == width) {
    std::memcpy(target, source, count * bytes);
    return;
  }
  if (target_step == width && source_step == -width && count > 1) {
    if (const MirrorFunction mirror = mirror_function(bytes)) {
      mirror(source - (count - 1) * bytes, target, count);
      return;
    }
  }
  copy_pieces(target, target_step, source, source_step, bytes, count);
}

void swap_numbers(std::byte* data, std::size_t count, std::size_t number_bytes) {
  if (const SwapFunction swap = swap_function(number_bytes)) return swap(data, data, count);
  for (std::size_t i = 0; i < count; ++i, data += number_bytes) std::reverse(data, data + number_bytes);
}

}  // namespace xorder::kernel
