#include "machine/storage.hpp"

#include <algorithm>

#include "io/ranges.hpp"
#include "plan/processors.hpp"
#include "task/parallel.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

constexpr std::uint64_t request = plan::transfer_bytes;

}  // namespace

// Requests meet at multiples of their size in the file, so that only the ends of the range can be unaligned.
template <typename Transfer>
void Storage::in_parallel(std::uint64_t begin, std::size_t bytes, const Transfer& transfer) {
  if (bytes == 0) return;
  const std::uint64_t first = begin / request, last = (begin + bytes - 1) / request;
  const auto part = [&](std::uint64_t i) {
    if (stop_.stop_requested()) throw Cancelled();
    const std::uint64_t from = std::max(begin, i * request), to = std::min(begin + bytes, (i + 1) * request);
    transfer(from, static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from));
  };
  task::each(last - first + 1, [&](std::uint64_t i) { part(first + i); });
}

void Storage::read(io::Location place, std::uint64_t offset, std::byte* to, std::size_t bytes) {
  in_parallel(place.offset + offset, bytes, [&](std::uint64_t from, std::size_t at, std::size_t part) {
    io::read_range(place.file, from, to + at, part);
  });
}

void Storage::write(io::Location place, std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  in_parallel(place.offset + offset, bytes, [&](std::uint64_t to, std::size_t at, std::size_t part) {
    io::write_range(place.file, to, from + at, part);
  });
}

void Storage::read_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes) {
  in_parallel(place.offset + offset, bytes, [&](std::uint64_t from, std::size_t at, std::size_t part) {
    io::read_in_place(place.file, from, window + at, part);
  });
}

void Storage::prepare_in_place(io::Location place, std::uint64_t offset, std::byte* window,
                               std::size_t bytes) {
  in_parallel(place.offset + offset, bytes, [&](std::uint64_t to, std::size_t at, std::size_t part) {
    io::prepare_in_place(place.file, to, window + at, part);
  });
}

void Storage::write_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes) {
  in_parallel(place.offset + offset, bytes, [&](std::uint64_t to, std::size_t at, std::size_t part) {
    io::write_in_place(place.file, to, window + at, part);
  });
}

task::Workers transfer_workers(const work::Frame& frame) {
  return task::Workers(std::max(plan::transfer_threads(frame.memory()), frame.options.threads));
}

}  // namespace xorder::machine
