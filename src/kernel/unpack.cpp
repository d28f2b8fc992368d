#include "kernel/unpack.hpp"

#include <algorithm>

#include "kernel/gather.hpp"

namespace xorder::kernel {
namespace {

using std::uint64_t;
using Source = plan::StridedSource;

// Copies `count` stored units, `step` bytes apart, piece by piece. Returns the end of the copy.
std::byte* unpack_pieces(const Source& source, const std::byte* from, std::int64_t step, uint64_t count,
                         std::byte* to) {
  constexpr uint64_t cached = 16 << 10;  // all pieces find these bytes in the first-level cache
  const uint64_t unit = source.unit_bytes(), most = std::max<uint64_t>(1, cached / unit);
  while (count > 0) {
    const uint64_t now = std::min(count, most);
    std::byte* target = to;
    for (const ElementPiece& piece : source.pieces()) {
      gather(from + piece.offset, step, target, static_cast<std::int64_t>(unit), now, piece.bytes);
      if (piece.reversed > 1 && piece.bytes == unit)
        swap_numbers(target, now * unit / piece.reversed, piece.reversed);
      else if (piece.reversed > 1)
        for (uint64_t i = 0; i < now; ++i)
          swap_numbers(target + i * unit, piece.bytes / piece.reversed, piece.reversed);
      target += piece.bytes;
    }
    from += step * static_cast<std::int64_t>(now);
    to += now * unit;
    count -= now;
  }
  return to;
}

// `from` is the lowest byte of the first chunk. Returns the end of the copy.
std::byte* unpack_plate(const Source& source, const Source::Plate& plate, const std::byte* from,
                        std::byte* to) {
  const uint64_t chunk = plate.units * source.unit_bytes();
  for (uint64_t row = 0; row < plate.rows; ++row, from += plate.row_step) {
    if (source.pieces().empty()) {
      gather(from, plate.step, to, static_cast<std::int64_t>(chunk), plate.count, chunk);
      to += plate.count * chunk;
    } else if (plate.units == 1) {
      to = unpack_pieces(source, from, plate.step, plate.count, to);
    } else {
      const std::byte* at = from;
      for (uint64_t i = 0; i < plate.count; ++i, at += plate.step)
        to = unpack_pieces(source, at, static_cast<std::int64_t>(source.stored_bytes()), plate.units, to);
    }
  }
  return to;
}

}  // namespace

const std::byte* unpack_run(const plan::SourceFiles& files, uint64_t begin, uint64_t bytes,
                            const std::byte* const*& span, std::byte* memory) {
  const std::byte* result = memory;
  std::byte* to = memory;
  files.for_each_box(begin, bytes, [&](std::size_t, const Source& source, const Source::Box& box) {
    const std::byte* const data = *span++;
    source.for_each_plate(box.first, box.units, [&](const Source::Plate& plate) {
      const std::byte* const from = data + (plate.position - box.begin);
      if (source.pieces().empty() && plate.units == bytes)
        result = from;  // the run is one chunk
      else
        to = unpack_plate(source, plate, from, to);
    });
  });
  return result;
}

}  // namespace xorder::kernel
