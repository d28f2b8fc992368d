// The order in which the slots of a matrix change places when it is transposed where it is.
#pragma once

#include <cstdint>
#include <vector>

namespace xorder::memory {

/// x / d for any x below 2^63, without a division.
class Divider {
 public:
  explicit Divider(std::uint64_t d) : d_(d), inverse_(~std::uint64_t{0} / d) {}
  std::uint64_t operator()(std::uint64_t x) const {
    __extension__ using Wide = unsigned __int128;
    // The inverse is too small by less than 1, or by 1 if d divides 2^64, so the product by at most 1.
    const auto quotient = static_cast<std::uint64_t>(Wide{x} * inverse_ >> 64);
    return quotient + (x - quotient * d_ >= d_ ? 1 : 0);
  }

 private:
  std::uint64_t d_, inverse_;
};

/// A matrix of rows × columns slots becomes one of columns × rows. Immutable.
///
/// A long cycle of slots is cut into arcs, each of which one thread can follow, if the contents of their
/// first slots are put aside before. All of them together are at most 1/128 of the slots. Of a short cycle
/// only the first slot is known, by a bit.
class SlotCycles {
 public:
  /// Takes some nanoseconds for each slot, and the memory of two bits.
  SlotCycles(std::uint64_t rows, std::uint64_t columns);

  /// The slot whose content a slot receives.
  std::uint64_t source_of(std::uint64_t slot) const {
    const std::uint64_t column = by_rows_(slot);
    return (slot - column * rows_) * columns_ + column;
  }

  /// From its slot `first`, by source_of(), to the last before the slot where the arc `next` begins.
  struct Arc {
    std::uint64_t first;
    std::uint64_t next;
  };
  const std::vector<Arc>& arcs() const { return arcs_; }

  std::uint64_t short_stretches() const { return first_.size(); }
  /// Calls body(slot) for the first slot of each short cycle that begins in a stretch of slots.
  template <class Body>
  void for_short(std::uint64_t stretch, const Body& body) const {
    for (std::uint64_t bits = first_[stretch]; bits != 0; bits &= bits - 1)
      body(stretch * 64 + static_cast<std::uint64_t>(__builtin_ctzll(bits)));
  }

 private:
  std::uint64_t rows_, columns_;
  Divider by_rows_;
  std::vector<Arc> arcs_;
  std::vector<std::uint64_t> first_;  // a bit for each slot
};

}  // namespace xorder::memory
