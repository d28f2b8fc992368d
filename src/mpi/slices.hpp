// Messages are moved in slices, so that buffers are small and no count exceeds an int.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "mpi/rank_schedule.hpp"
#include "rounding.hpp"

namespace xorder::mpi {

struct Slice {
  std::uint64_t begin = 0;  ///< bytes from the beginning of the message
  std::uint64_t bytes = 0;
};

/// A slice is a part of one piece, or 2^k whole pieces (fewer at the end of the message). Both sides cut in
/// the same way.
class Slices {
 public:
  /// Pieces of at least this many bytes, or of a slice, are received where they belong. Shorter ones go
  /// through a buffer, many at once.
  static constexpr std::uint64_t long_piece = std::uint64_t{1} << 18;

  /// No slice is longer than `most` ≥ 1 bytes.
  Slices(const Message& message, std::uint64_t most)
      : bytes_(message.bytes), within_pieces_(message.piece_bytes >= std::min(most, long_piece)) {
    unit_ = within_pieces_ ? message.piece_bytes
                           : std::bit_floor(most / message.piece_bytes) * message.piece_bytes;
    per_unit_ = ceil_div(unit_, most);
    step_ = std::min(unit_, most);
  }

  bool within_pieces() const { return within_pieces_; }
  /// Bytes of the longest slice.
  std::uint64_t longest() const { return std::min(step_, bytes_); }
  std::uint64_t count() const { return bytes_ / unit_ * per_unit_ + ceil_div(bytes_ % unit_, step_); }
  Slice operator[](std::uint64_t i) const {
    const std::uint64_t unit = i / per_unit_ * unit_;
    const std::uint64_t begin = unit + i % per_unit_ * step_;
    return {begin, std::min({begin + step_, unit + unit_, bytes_}) - begin};
  }

 private:
  std::uint64_t bytes_;
  bool within_pieces_;
  std::uint64_t unit_ = 1;  // a piece, or a slice of pieces; each unit is cut into steps from its beginning
  std::uint64_t step_ = 1;
  std::uint64_t per_unit_ = 1;
};

}  // namespace xorder::mpi
