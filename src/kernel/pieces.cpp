#include "kernel/pieces.hpp"

#include <array>
#include <bit>

#include "kernel/records.hpp"

namespace xorder::kernel {

using gf2::Word;
using std::int64_t;
using std::uint64_t;

void copy_pieces(std::byte* to, int64_t to_pitch, const std::byte* from, int64_t from_pitch, uint64_t bytes,
                 uint64_t count) {
  with_record(bytes, [=](const auto& record) {
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
      record.copy(to + i * to_pitch, from + i * from_pitch);
  });
}

void scatter_pieces(std::byte* to, const std::byte* from, std::span<const Word> places, Word offset,
                    uint64_t bytes) {
  // Counting up flips all bits up to the lowest 0, bit t. steps[t] is the resulting change of the place.
  std::array<Word, 64> steps;
  Word sum = 0;
  for (std::size_t t = 0; t < places.size(); ++t) steps[t] = sum ^= places[t];
  const uint64_t count = uint64_t{1} << places.size();
  with_record(bytes, [&](const auto& record) {
    const uint64_t size = record.bytes();
    Word at = offset;
    for (uint64_t i = 0;;) {
      record.copy(to + at * size, from + i * size);
      if (++i == count) return;
      at ^= steps[static_cast<std::size_t>(std::countr_zero(i))];
    }
  });
}

}  // namespace xorder::kernel
