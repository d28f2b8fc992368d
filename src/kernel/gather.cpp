#include "kernel/gather.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "kernel/vectors/mirror.hpp"

namespace xorder::kernel {
namespace {

// For a size that the compiler knows, a copy is one or two instructions.
template <std::size_t W>
void gather_small(const std::byte* source, std::int64_t source_step, std::byte* target,
                  std::int64_t target_step, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, source += source_step, target += target_step)
    std::memcpy(target, source, W);
}

using SmallGather = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::size_t);
constexpr SmallGather small_gathers[] = {
    nullptr,          gather_small<1>,  gather_small<2>,  gather_small<3>,  gather_small<4>,
    gather_small<5>,  gather_small<6>,  gather_small<7>,  gather_small<8>,  gather_small<9>,
    gather_small<10>, gather_small<11>, gather_small<12>, gather_small<13>, gather_small<14>,
    gather_small<15>, gather_small<16>};

}  // namespace

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
  if (bytes < std::size(small_gathers) && bytes > 0) {
    small_gathers[bytes](source, source_step, target, target_step, count);
    return;
  }
  for (std::size_t i = 0; i < count; ++i, source += source_step, target += target_step)
    std::memcpy(target, source, bytes);
}

void swap_numbers(std::byte* data, std::size_t count, std::size_t number_bytes) {
  if (const SwapFunction swap = swap_function(number_bytes)) return swap(data, data, count);
  for (std::size_t i = 0; i < count; ++i, data += number_bytes) std::reverse(data, data + number_bytes);
}

}  // namespace xorder::kernel
