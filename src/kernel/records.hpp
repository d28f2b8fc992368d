// Copies elements of any size one by one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace xorder::kernel {

/// Copies one element of W bytes. If W < 16, copy_ahead() copies up to the next power of two, in one move.
/// There must be that much to read, and the bytes after the element in the target must be written later.
template <std::size_t W>
struct FixedRecord {
  static constexpr std::size_t moved = W > 16 ? W : std::bit_ceil(W);
  static constexpr FixedRecord of_size(std::size_t) { return {}; }
  static constexpr std::size_t bytes() { return W; }
  static constexpr std::size_t reads() { return moved; }  ///< by copy_ahead()
  static void copy(std::byte* to, const std::byte* from) { std::memcpy(to, from, W); }
  static void copy_ahead(std::byte* to, const std::byte* from) { std::memcpy(to, from, moved); }
};

/// Copies one element of 17 to 256 bytes, without a call. Some of its last 16 bytes may be copied twice.
struct LongRecord {
  std::size_t size;
  static constexpr LongRecord of_size(std::size_t bytes) { return {bytes}; }
  std::size_t bytes() const { return size; }
  std::size_t reads() const { return size; }
  void copy(std::byte* to, const std::byte* from) const {
    for (std::size_t i = 0; i + 16 < size; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  }
  void copy_ahead(std::byte* to, const std::byte* from) const { copy(to, from); }
};

/// Copies one element of any size.
struct AnyRecord {
  std::size_t size;
  static constexpr AnyRecord of_size(std::size_t bytes) { return {bytes}; }
  std::size_t bytes() const { return size; }
  std::size_t reads() const { return size; }
  void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, size); }
  void copy_ahead(std::byte* to, const std::byte* from) const { copy(to, from); }
};

/// Calls `body` with the record type for elements of this size.
template <class Body>
decltype(auto) with_record(std::size_t bytes, const Body& body) {
  switch (bytes) {
    case 1:
      return body(FixedRecord<1>());
    case 2:
      return body(FixedRecord<2>());
    case 3:
      return body(FixedRecord<3>());
    case 4:
      return body(FixedRecord<4>());
    case 5:
      return body(FixedRecord<5>());
    case 6:
      return body(FixedRecord<6>());
    case 7:
      return body(FixedRecord<7>());
    case 8:
      return body(FixedRecord<8>());
    case 9:
      return body(FixedRecord<9>());
    case 10:
      return body(FixedRecord<10>());
    case 11:
      return body(FixedRecord<11>());
    case 12:
      return body(FixedRecord<12>());
    case 13:
      return body(FixedRecord<13>());
    case 14:
      return body(FixedRecord<14>());
    case 15:
      return body(FixedRecord<15>());
    case 16:
      return body(FixedRecord<16>());
    case 20:
      return body(FixedRecord<20>());
    case 24:
      return body(FixedRecord<24>());
    case 32:
      return body(FixedRecord<32>());
    default:
      return bytes > 16 && bytes <= 256 ? body(LongRecord{bytes}) : body(AnyRecord{bytes});
  }
}

/// A TransposeFunction, see transpose.hpp.
void transpose_records(const std::byte* const* rows, std::size_t count, std::size_t columns,
                       std::byte* target, std::size_t pitch, std::size_t element_bytes, bool fetching);

}  // namespace xorder::kernel
