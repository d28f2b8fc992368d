#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "descend/numbers.hpp"
#include "xorder/descend/computations.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

template <typename T>
struct Row {
  T a, b, c, d;
};

/// The first fault, by iteration and then by row. Later faults may follow from it.
class FirstFault {
 public:
  static constexpr int input = -2, diagonal = -1;  // before the iterations
  static constexpr int solution = 64;              // after them

  void note(int when, uint64_t row, int array = 0) {
    const std::lock_guard lock(mutex_);
    fault_ = std::min(fault_, Fault{when, {row, array}});
  }
  bool any() const { return fault_.first != std::numeric_limits<int>::max(); }
  int when() const { return fault_.first; }
  uint64_t row() const { return fault_.second.first; }
  int array() const { return fault_.second.second; }

 private:
  using Fault = std::pair<int, std::pair<uint64_t, int>>;
  std::mutex mutex_;
  Fault fault_{std::numeric_limits<int>::max(), {0, 0}};
};

template <typename T>
class CyclicReduction final : public Computation {
 public:
  CyclicReduction(const std::array<io::ArrayFile, 4>& inputs, uint64_t count)
      : Computation(Direction::ascend, sizeof(Row<T>)), count_(count) {
    for (std::size_t i = 0; i < 4; ++i) {
      names_[i] = inputs[i].path.string();
      types_[i] = io::number_type(inputs[i].description.dtype);
    }
    set_name(fmt::format("cyclic reduction of {}", count));
  }

  void load(uint64_t first, std::size_t count, std::span<const std::byte* const> inputs,
            std::byte* records) override {
    Row<T>* const rows = reinterpret_cast<Row<T>*>(records);
    for (std::size_t k = 0; k < count; ++k) {
      rows[k] = {number(inputs, 0, k), number(inputs, 1, k), number(inputs, 2, k), number(inputs, 3, k)};
    }
    if (first == 0) rows[0].a = 0;
    if (first + count == count_) rows[count - 1].c = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const T numbers[] = {rows[k].a, rows[k].b, rows[k].c, rows[k].d};
      for (int i = 0; i < 4; ++i) {
        if (!std::isfinite(numbers[i])) fault_.note(FirstFault::input, first + k, i);
      }
      if (rows[k].b == 0) fault_.note(FirstFault::diagonal, first + k);
    }
  }

  // The rows before and after eliminate a and c. Rows beyond the ends have a factor of 0.
  void step(int b, uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    const auto* const rows = reinterpret_cast<const Row<T>*>(x);
    const auto* const after = reinterpret_cast<const Row<T>*>(plus);
    const auto* const before = reinterpret_cast<const Row<T>*>(minus);
    auto* __restrict const result = reinterpret_cast<Row<T>*>(out);
    bool sound = true;
    for (std::size_t k = 0; k < count; ++k) {
      const T alpha = -rows[k].a / before[k].b, gamma = -rows[k].c / after[k].b;
      result[k] = {alpha * before[k].a, rows[k].b + alpha * before[k].c + gamma * after[k].a,
                   gamma * after[k].c, rows[k].d + alpha * before[k].d + gamma * after[k].d};
      sound = sound && is_pivot(result[k].b);
    }
    if (sound) return;
    const auto fault =
        std::find_if(result, result + count, [](const Row<T>& row) { return !is_pivot(row.b); });
    fault_.note(b, first + static_cast<uint64_t>(fault - result));
  }

  void store(uint64_t first, std::size_t count, std::byte* records, std::byte* output) override {
    const auto* const rows = reinterpret_cast<const Row<T>*>(records);
    for (std::size_t k = 0; k < count; ++k) {
      const T x = rows[k].d / rows[k].b;
      if (!std::isfinite(x)) fault_.note(FirstFault::solution, first + k);
      std::memcpy(output + k * sizeof x, &x, sizeof x);
    }
    if (types_[3].swapped) swap_bytes(output, count, sizeof(T));
  }

  void check() override {
    if (!fault_.any()) return;
    const uint64_t row = fault_.row();
    switch (fault_.when()) {
      case FirstFault::input:
        throw InputError(fmt::format("{}: the number in row {} is not finite",
                                     names_[static_cast<std::size_t>(fault_.array())], row));
      case FirstFault::diagonal:
        throw InputError(
            fmt::format("{}: a zero pivot in row {}: the diagonal has a zero there", names_[1], row));
      case FirstFault::solution:
        throw InputError(fmt::format("{}: the solution overflows in row {}", names_[1], row));
      default:
        throw InputError(fmt::format(
            "{}: a zero pivot in row {} in iteration {}: the matrix is singular, or needs pivoting, which "
            "cyclic reduction does not do; diagonally dominant matrices need none",
            names_[1], row, fault_.when()));
    }
  }

 private:
  static bool is_pivot(T x) { return x != 0 && std::abs(x) <= std::numeric_limits<T>::max(); }

  T number(std::span<const std::byte* const> inputs, std::size_t array, std::size_t k) const {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, inputs[array] + k * sizeof(T), sizeof(T));
    if (types_[array].swapped) std::reverse(bytes, bytes + sizeof(T));
    T x;
    std::memcpy(&x, bytes, sizeof x);
    return x;
  }

  uint64_t count_;
  std::array<std::string, 4> names_;
  std::array<NumberType, 4> types_;
  FirstFault fault_;
};

}  // namespace

std::unique_ptr<Computation> cyclic_reduction(const std::array<io::ArrayFile, 4>& inputs) {
  const std::vector<uint64_t>& extents = inputs[0].description.extents;
  for (const io::ArrayFile& input : inputs) {
    if (input.description.extents != extents) {
      throw InputError(fmt::format("{}: its shape ({}) is not that of {}, ({})", input.path.string(),
                                   fmt::join(input.description.extents, ", "), inputs[0].path.string(),
                                   fmt::join(extents, ", ")));
    }
    const NumberType type = io::number_type(input.description.dtype);
    if (type.kind != 'f' || type.bytes != inputs[0].description.dtype.bytes ||
        (type.bytes != 4 && type.bytes != 8)) {
      throw InputError(fmt::format("{}: has type {}; all four files must be f4, or all f8",
                                   input.path.string(), input.description.dtype.descr));
    }
  }
  const uint64_t count = inputs[0].description.elements();
  if (inputs[0].description.dtype.bytes == 4) return std::make_unique<CyclicReduction<float>>(inputs, count);
  return std::make_unique<CyclicReduction<double>>(inputs, count);
}

}  // namespace xorder::descend
