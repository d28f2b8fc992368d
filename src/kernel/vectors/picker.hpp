// Gathers elements that lie at fixed places, for tiles whose axes are too short for anything else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace xorder::kernel {

/// Puts elements together from their places in a buffer. Where some of them are close together, it permutes
/// them in registers: a vector of the result is made from a few loads, each of which is a vector of the
/// buffer.
class Picker {
 public:
  /// Element i is `places[i]` bytes behind the beginning.
  Picker(std::vector<std::uint32_t> places, std::size_t element_bytes);

  /// Behind what is picked from and what is written, this many bytes may be read and overwritten.
  static constexpr std::size_t slack = 64;

  /// Copies elements 0 .. count − 1 to `to`.
  void pick(std::byte* to, const std::byte* from, std::size_t count) const {
    if (loads_ == 0) return one_by_one_(*this, to, from, count);
    by_loads_(*this, to, from, (count + in_vector_ - 1) / in_vector_);
  }

  const std::vector<std::uint32_t>& places() const { return places_; }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Of each vector; 0 if elements are copied one by one.
  std::size_t loads() const { return loads_; }
  std::size_t in_vector() const { return in_vector_; }
  /// Load k of vector v begins at offsets()[v·loads() + k]. Its byte orders()[(v·loads() + k)·N + j],
  /// if that is not no_byte, becomes byte j of the vector of N bytes.
  const std::uint32_t* offsets() const { return offsets_.data(); }
  const std::uint8_t* orders() const { return orders_.data(); }
  static constexpr std::uint8_t no_byte = 0x80;

  using Function = void (*)(const Picker&, std::byte* to, const std::byte* from, std::size_t count);
  struct ByLoads {
    std::size_t vector_bytes = 0;  ///< 0 if there are no vectors
    Function function = nullptr;   ///< its count is one of vectors
  };

 private:
  std::span<const std::uint32_t> places_of(std::size_t vector) const {
    const std::size_t first = vector * in_vector_;
    return {places_.data() + first, std::min(in_vector_, places_.size() - first)};
  }
  bool find_loads(std::size_t vector_bytes);
  void set_orders(std::size_t vector_bytes);

  std::size_t element_bytes_;
  std::vector<std::uint32_t> places_;
  std::size_t loads_ = 0, in_vector_ = 0;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint8_t> orders_;
  Function one_by_one_, by_loads_ = nullptr;
};

}  // namespace xorder::kernel
