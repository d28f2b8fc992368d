#include "memory/micro.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/micro.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::memory::HWY_NAMESPACE {

using namespace kernel::HWY_NAMESPACE;

template <bool streamed>
void write_rows(const RowsOut& out) {
  for (std::size_t c = 0; c < out.rows; ++c) {
    std::byte* to = out.target + c * out.target_pitch;
    const std::byte* from = out.buffer + c * out.pitch;
    const std::byte* const end = from + out.bytes;
    if (out.first) {
      const std::size_t head = std::min(kernel::to_line_end(to), out.bytes);
      copy_part_of_line<streamed>(to, from, head);
      to += head;
      from += head;
    } else {
      const std::size_t back = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
      to -= back;
      from -= back;
    }
    for (; from + line_bytes <= end; from += line_bytes, to += line_bytes) copy_line<streamed>(to, from);
    if (out.last) copy_part_of_line<streamed>(to, from, static_cast<std::size_t>(end - from));
  }
}
RowsOutFunction rows_out_of(bool streamed) { return streamed ? write_rows<true> : write_rows<false>; }

}  // namespace xorder::memory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::memory {

HWY_EXPORT(rows_out_of);

RowsOutFunction rows_out_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(rows_out_of)(streamed); }

}  // namespace xorder::memory
#endif
