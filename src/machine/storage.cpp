#include "machine/storage.hpp"

#include <algorithm>

#include "plan/processors/processors.hpp"
#include "task/parallel.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {

// Requests meet at multiples of their size in the file, so that only the ends of the range can be unaligned.
template <typename Byte>
void Storage::transfer(RangeTransfer<Byte>* transfer_one, io::Location place, std::uint64_t offset,
                       std::type_identity_t<Byte>* data, std::size_t bytes) {
  constexpr std::uint64_t request = plan::transfer_bytes;
  if (bytes == 0) return;
  const std::uint64_t begin = place.offset + offset, end = begin + bytes;
  const std::uint64_t first = begin / request, last = (end - 1) / request;
  task::each(last - first + 1, [&](std::uint64_t i) {
    if (stop_.stop_requested()) throw Cancelled();
    const std::uint64_t from = std::max(begin, (first + i) * request);
    const std::uint64_t to = std::min(end, (first + i + 1) * request);
    transfer_one(place.file, from, data + (from - begin), static_cast<std::size_t>(to - from));
  });
}

template void Storage::transfer(RangeTransfer<std::byte>*, io::Location, std::uint64_t, std::byte*,
                                std::size_t);
template void Storage::transfer(RangeTransfer<const std::byte>*, io::Location, std::uint64_t,
                                const std::byte*, std::size_t);

task::Workers transfer_workers(const work::Frame& frame) {
  return task::Workers(std::max(plan::transfer_threads(frame.memory()), frame.options.threads));
}

}  // namespace xorder::machine
