// Records that are numbers, in either byte order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xorder/descend/descend.hpp"
#include "xorder/error.hpp"
#include "xorder/io/dtype.hpp"

namespace xorder::descend {

using io::NumberType;

/// Reverses the bytes of each of `count` numbers.
void swap_bytes(std::byte* numbers, std::size_t count, std::size_t bytes_each);

/// Records are numbers, in the machine's byte order during the computation.
template <typename T>
class Numbers : public Computation {
 public:
  Numbers(Direction direction, NumberType type) : Computation(direction, sizeof(T)), type_(type) {}

  void load(std::uint64_t, std::size_t count, std::span<const std::byte* const>,
            std::byte* records) override {
    turn(records, count);
  }
  void store(std::uint64_t, std::size_t count, std::byte* records, std::byte*) override {
    turn(records, count);
  }

 private:
  void turn(std::byte* records, std::size_t count) const {
    const std::size_t each = type_.kind == 'c' ? 2 : 1;
    if (type_.swapped) swap_bytes(records, count * each, sizeof(T) / each);
  }

  NumberType type_;
};

/// Returns visitor(T()) if `type` is the real number type T, and other() if it is none of these.
template <typename Visitor, typename Other>
auto visit_real(const NumberType& type, const Visitor& visitor, const Other& other) {
  switch (type.kind == 'b' ? 'u' : type.kind) {
    case 'i':
      if (type.bytes == 1) return visitor(std::int8_t());
      if (type.bytes == 2) return visitor(std::int16_t());
      if (type.bytes == 4) return visitor(std::int32_t());
      if (type.bytes == 8) return visitor(std::int64_t());
      break;
    case 'u':
      if (type.bytes == 1) return visitor(std::uint8_t());
      if (type.bytes == 2) return visitor(std::uint16_t());
      if (type.bytes == 4) return visitor(std::uint32_t());
      if (type.bytes == 8) return visitor(std::uint64_t());
      break;
    case 'f':
      if (type.bytes == 4) return visitor(float());
      if (type.bytes == 8) return visitor(double());
      break;
    default:
      break;
  }
  return other();
}

}  // namespace xorder::descend
