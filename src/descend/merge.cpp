#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "descend/numbers.hpp"
#include "xorder/descend/computations.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

// Finds whether both halves of a file are sorted, from ranges that come in any order, some of them twice.
// Ranges that touch are joined, so there are about as many as a strip has rows.
template <typename T>
class Halves {
 public:
  explicit Halves(uint64_t count) : middle_(count / 2) {}

  void look_at(uint64_t first, const T* x, std::size_t count) {
    std::size_t k = 1;
    if (in_order(x[0], x[0])) {
      while (k < count && (in_order(x[k - 1], x[k]) || (first + k == middle_ && in_order(x[k], x[k])))) ++k;
    } else {
      k = 0;  // NaN
    }
    const std::lock_guard lock(mutex_);
    if (k < count) violated_at(first + k);
    add(first, {first + count, x[0], x[count - 1]});
  }

  /// The first element that is less than the one before it, or NaN.
  std::optional<uint64_t> violation() const { return violation_; }

 private:
  struct Range {
    uint64_t end;
    T front, back;
  };
  static bool in_order(T x, T y) { return x <= y; }

  void violated_at(uint64_t at) { violation_ = std::min(violation_.value_or(at), at); }

  void add(uint64_t first, Range range) {
    const auto next = ranges_.upper_bound(first);
    auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
    if (before != ranges_.end() && before->second.end >= range.end) return;  // for the second time
    if (before != ranges_.end() && before->second.end == first) {
      join(before->second, range, first);
    } else {
      before = ranges_.emplace_hint(next, first, range);
    }
    if (next != ranges_.end() && next->first == range.end) {
      join(before->second, next->second, next->first);
      ranges_.erase(next);
    }
  }

  // The second one begins `at` the end of the first.
  void join(Range& range, const Range& second, uint64_t at) {
    if (at != middle_ && !in_order(range.back, second.front)) violated_at(at);
    range.end = second.end;
    range.back = second.back;
  }

  uint64_t middle_;
  std::mutex mutex_;
  std::optional<uint64_t> violation_;
  std::map<uint64_t, Range> ranges_;  // by their first element
};

template <typename T>
class Merge final : public Numbers<T> {
 public:
  Merge(NumberType type, std::string name, uint64_t count)
      : Numbers<T>(Direction::descend, type), file_(std::move(name)), count_(count), halves_(count) {
    this->set_name(fmt::format("odd-even merge of {} {}{}", count, type.kind, type.bytes));
  }

  void load(uint64_t first, std::size_t count, std::span<const std::byte* const> inputs,
            std::byte* records) override {
    Numbers<T>::load(first, count, inputs, records);
    halves_.look_at(first, reinterpret_cast<const T*>(records), count);
  }

  bool checks_whole_input() const override { return true; }
  void check() override {
    if (const auto at = halves_.violation()) {
      throw InputError(fmt::format(
          "{}: its halves are not both sorted; the first violation is at position {}, which is {}", file_,
          *at, *at == 0 ? "NaN" : fmt::format("less than position {}, or NaN", *at - 1)));
    }
  }

  // Compares pairs (i, i + d): the lower place gets the smaller element, the upper place the larger one.
  // Equal elements stay, so that neither of 0.0 and −0.0 is lost.
  void step(int b, uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    const T* const self = reinterpret_cast<const T*>(x);
    const T* const after = reinterpret_cast<const T*>(plus);
    const T* const before = reinterpret_cast<const T*>(minus);
    T* __restrict const result = reinterpret_cast<T*>(out);
    const uint64_t d = uint64_t{1} << b, lower = 2 * d == count_ ? 0 : d;  // bit b of the lower one of a pair
    const auto keep = [&](std::size_t begin, std::size_t end) {
      std::copy(self + begin, self + end, result + begin);
    };
    // The first d and the last d indices have no partner, unless d is half of all.
    const uint64_t begin = lower == 0 ? 0 : std::min<uint64_t>(count, d - std::min(d, first));
    const uint64_t last = lower == 0 ? count_ : count_ - d;
    const uint64_t end = std::max<uint64_t>(begin, std::min<uint64_t>(count, last - std::min(last, first)));
    keep(0, begin);
    for (std::size_t k = begin; k < end; ++k) {
      const T smaller = after[k] < self[k] ? after[k] : self[k];
      const T larger = self[k] < before[k] ? before[k] : self[k];
      result[k] = ((first + k) & d) == lower ? smaller : larger;
    }
    keep(end, count);
  }

 private:
  std::string file_;
  uint64_t count_;
  Halves<T> halves_;
};

}  // namespace

std::unique_ptr<Computation> odd_even_merge(const io::DType& dtype, std::string name, uint64_t count) {
  const NumberType type = io::number_type(dtype);
  using Made = std::unique_ptr<Computation>;
  return visit_real(
      type,
      [&](auto zero) -> Made {
        return std::make_unique<Merge<decltype(zero)>>(type, std::move(name), count);
      },
      [&]() -> Made {
        throw InputError(
            fmt::format("{}: merge is for integers, bool, f4 and f8, not for {}", name, dtype.descr));
      });
}

}  // namespace xorder::descend
