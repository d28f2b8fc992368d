#include "kernel/vectors/micro.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/micro.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

void copy_streamed(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  const std::uint64_t head = std::min<std::uint64_t>(to_line_end(target), bytes);
  if (head != 0) copy_part_of_line<true>(target, source, head);
  std::uint64_t i = head;
  for (; i + line_bytes <= bytes; i += line_bytes) copy_line<true>(target + i, source + i);
  if (i != bytes) copy_part_of_line<true>(target + i, source + i, bytes - i);
}

CopyFunction streaming() { return copy_streamed; }

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(streaming);

CopyFunction copy_function(bool streamed) {
  if (streamed) return HWY_DYNAMIC_DISPATCH(streaming)();
  return [](std::byte* target, const std::byte* source, std::uint64_t bytes) {
    std::memcpy(target, source, bytes);
  };
}

void finish_streams() { hwy::FlushStream(); }

}  // namespace xorder::kernel
#endif
