#include "kernel/linear/record_mover.hpp"

#include <algorithm>
#include <bit>

#include "gf2/left_inverse.hpp"
#include "gf2/subspace.hpp"
#include "gf2/sums.hpp"

namespace xorder::kernel {

using gf2::BitMatrix;
using gf2::low_mask;
using gf2::Subspace;
using gf2::sums;
using gf2::Word;

RecordMover::RecordMover(const BitMatrix& map, std::uint64_t element_bytes, TileShape shape, bool streamed)
    : element_bytes_(element_bytes),
      shape_(shape),
      slack_(with_record(element_bytes, [](const auto& record) { return record.reads() - record.bytes(); })),
      gather_(copy_function(false)),
      write_(copy_function(streamed)),
      // (Shorter segments consist mostly of the partial lines at their ends.)
      streamed_(streamed && segment_bytes() >= 2 * line_bytes),
      padding_(padding_functions(element_bytes)) {
  const auto [source_bits, target_bits] = shape;
  const BitMatrix inverse = gf2::left_inverse(map);
  Subspace segments;
  for (int i = 0; i < source_bits; ++i) segments.add(map.column(i) & ~low_mask(target_bits));
  Subspace span = Subspace::low_bits(source_bits);
  std::vector<Word> runs;
  for (int i = 0; i < target_bits; ++i) {
    const Word run = inverse.column(i) & ~low_mask(source_bits);
    if (span.add(run)) runs.push_back(run);
  }
  const BitMatrix of_number(map.cols(), runs);
  const auto in_buffer = [&](Word x) {
    return *of_number.solve(x & ~low_mask(source_bits)) << source_bits | (x & low_mask(source_bits));
  };
  std::vector<Word> positions, from_segments;
  for (int i = 0; i < target_bits; ++i) positions.push_back(in_buffer(inverse.column(i)));
  for (const Word v : segments.basis()) from_segments.push_back(in_buffer(inverse(v)));
  runs_ = sums(runs);
  segments_ = sums(segments.basis());
  positions_ = sums(positions);
  from_segments_ = sums(from_segments);

  const std::uint64_t cell = cell_bytes(element_bytes);
  if (!padding_.pad || cell << std::min(source_bits, target_bits) < line_bytes) return;
  std::vector<Word> places = positions;
  places.insert(places.end(), from_segments.begin(), from_segments.end());
  const int bits = static_cast<int>(places.size());
  lines_.emplace(
      make_line_tiles(*BitMatrix(bits, places).inverse(), std::countr_zero(cell), {bits, target_bits}), cell,
      false, Fetching::while_writing);
}

}  // namespace xorder::kernel
