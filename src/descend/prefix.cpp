#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "descend/numbers.hpp"
#include "xorder/descend/computations.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

// Integers are added and multiplied as unsigned integers of at least 32 bits, which wrap around.
template <typename T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;

struct Sum {
  template <typename T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
    else
      return x + y;
  }
};
struct Product {
  template <typename T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
    else if constexpr (std::is_floating_point_v<T>)
      return x * y;
    else  // as in NumPy, without the library's special case for infinities
      return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
};
// x != x: NaN wins.
struct Min {
  template <typename T>
  T operator()(T x, T y) const {
    return x <= y || x != x ? x : y;
  }
};
struct Max {
  template <typename T>
  T operator()(T x, T y) const {
    return x >= y || x != x ? x : y;
  }
};
struct Xor {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};

template <typename T, typename Operation>
class Prefix : public Numbers<T> {
 public:
  explicit Prefix(NumberType type) : Numbers<T>(Direction::descend, type) {}

  Computation::Reads reads(int) const override { return {.plus = false, .minus = true}; }
  bool is_causal() const override { return true; }

  void step(int b, uint64_t first, std::size_t count, const std::byte* x, const std::byte*,
            const std::byte* minus, std::byte* out) override {
    const T* const self = reinterpret_cast<const T*>(x);
    const T* const before = reinterpret_cast<const T*>(minus);
    T* __restrict const result = reinterpret_cast<T*>(out);
    const uint64_t distance = uint64_t{1} << b;  // the first elements have nothing that far before them
    const std::size_t alone = std::min<uint64_t>(count, distance - std::min(distance, first));
    std::memcpy(out, x, alone * sizeof(T));
    for (std::size_t k = alone; k < count; ++k) result[k] = Operation()(before[k], self[k]);
  }
};

// Bytes that are not 0 are true.
template <typename Operation>
class BoolPrefix final : public Prefix<std::uint8_t, Operation> {
 public:
  using Prefix<std::uint8_t, Operation>::Prefix;

  void load(uint64_t, std::size_t count, std::span<const std::byte* const>, std::byte* records) override {
    for (std::size_t k = 0; k < count; ++k) records[k] = std::byte{records[k] != std::byte{0}};
  }
};

using Made = std::unique_ptr<Computation>;

template <typename T>
Made sum_or_product(NumberType type, const std::string& operation) {
  if (operation == "sum") return std::make_unique<Prefix<T, Sum>>(type);
  if (operation == "prod") return std::make_unique<Prefix<T, Product>>(type);
  return nullptr;
}

Made for_bool(NumberType type, const std::string& operation) {
  if (operation == "sum" || operation == "max") return std::make_unique<BoolPrefix<Max>>(type);
  if (operation == "prod" || operation == "min") return std::make_unique<BoolPrefix<Min>>(type);
  if (operation == "xor") return std::make_unique<BoolPrefix<Xor>>(type);
  return nullptr;
}

Made for_number(NumberType type, const std::string& operation) {
  if (type.kind == 'b') return for_bool(type, operation);
  const auto real = [&](auto zero) -> Made {
    using T = decltype(zero);
    if (operation == "min") return std::make_unique<Prefix<T, Min>>(type);
    if (operation == "max") return std::make_unique<Prefix<T, Max>>(type);
    if constexpr (std::is_integral_v<T>) {
      if (operation == "xor") return std::make_unique<Prefix<T, Xor>>(type);
    }
    return sum_or_product<T>(type, operation);
  };
  const auto other = [&]() -> Made {
    if (type.kind != 'c') return nullptr;
    if (type.bytes == 8) return sum_or_product<std::complex<float>>(type, operation);
    if (type.bytes == 16) return sum_or_product<std::complex<double>>(type, operation);
    return nullptr;
  };
  return visit_real(type, real, other);
}

}  // namespace

std::unique_ptr<Computation> prefix(const io::DType& dtype, const std::string& operation) {
  if (Made made = for_number(io::number_type(dtype), operation)) {
    made->set_name(fmt::format("prefix {} of {}", operation, dtype.descr));
    return made;
  }
  throw InputError(fmt::format(
      "there is no prefix '{}' of {}: sum, prod, min and max are for integers, bool, f4 and f8, xor for "
      "integers and bool, sum and prod for c8 and c16",
      operation, dtype.descr));
}

}  // namespace xorder::descend
