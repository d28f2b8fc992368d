#include "verify/comparison.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "rounding.hpp"

namespace xorder::verify {
namespace {

using std::size_t;
using std::uint64_t;
__extension__ using Wide = unsigned __int128;

static_assert(std::endian::native == std::endian::little, "bytes of a word are added one by one, too");

// The weight of word i is mixed from key(i) by a multiplication, as wyhash does.
constexpr uint64_t key_step = 0xa0761d6478bd642f, mixer = 0xe7037ed1a0b428db;
uint64_t key(uint64_t word) { return (word + 1) * key_step; }
uint64_t weight(uint64_t key) {
  const Wide product = Wide{key} * (key ^ mixer);
  return (static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product)) | 1;
}

template <typename Unit>
uint64_t load(const std::byte* from) {
  Unit value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Elements of more bytes are added as what they are, one after the other; of smaller ones the n-th bytes, or
// the n-th words, of many together.
constexpr uint64_t short_element = 64;

// Rows of fewer bytes are added by columns.
constexpr uint64_t short_row = 512;

// Calls function(unit) with an unsigned number of the most bytes, up to 8, that divide the element's.
template <typename Function>
void with_unit(uint64_t element, const Function& function) {
  switch (std::min<uint64_t>(8, element & -element)) {
    case 1:
      return function(std::uint8_t{});
    case 2:
      return function(std::uint16_t{});
    case 4:
      return function(std::uint32_t{});
    default:
      return function(uint64_t{});
  }
}

}  // namespace

// A sum for each region. `to` is a place in the target, in bytes.
class Comparison::Sums {
 public:
  Sums(uint64_t bytes, int region_bits)
      : region_bits_(region_bits), regions_(ceil_div(bytes, uint64_t{1} << region_bits)) {}

  void set_negative(bool negative) { negative_ = negative; }
  const std::vector<Wide>& regions() const { return regions_; }

  // Bytes that follow each other in the target, too.
  void add_stretch(const std::byte* from, uint64_t to, uint64_t bytes) {
    const uint64_t head = std::min(bytes, -to % 8), words = (bytes - head) / 8;
    add_part(from, to, head);
    add_line<uint64_t>(from + head, 8, to + head, 8, words);
    add_part(from + head + words * 8, to + head + words * 8, (bytes - head) % 8);
  }

  // Units with a constant distance. They must not cross the ends of words.
  template <typename Unit>
  void add_line(const std::byte* from, uint64_t from_step, uint64_t to, uint64_t to_step, uint64_t count) {
    while (count > 0) {
      const uint64_t region = to >> region_bits_, end = (region + 1) << region_bits_;
      Wide sum = 0;
      if (to_step % 8 == 0) {  // always at the same place in a word
        const uint64_t place = to % 8 * 8, word_key_step = to_step / 8 * key_step;
        uint64_t word_key = key(to / 8);
        do {
          sum += Wide{load<Unit>(from)} * weight(word_key);
          word_key += word_key_step;
          from += from_step;
          to += to_step;
        } while (--count > 0 && to < end);
        sum <<= place;
      } else {
        do {
          sum += Wide{load<Unit>(from) << to % 8 * 8} * weight(key(to / 8));
          from += from_step;
          to += to_step;
        } while (--count > 0 && to < end);
      }
      add(region, sum);
    }
  }

  template <typename Unit>
  void add_unit(const std::byte* from, uint64_t to) {
    add(to >> region_bits_, Wide{load<Unit>(from) << to % 8 * 8} * weight(key(to / 8)));
  }

 private:
  // Less than a word, and of one word.
  void add_part(const std::byte* from, uint64_t to, uint64_t bytes) {
    if (bytes == 0) return;
    uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    add(to >> region_bits_, Wide{value << to % 8 * 8} * weight(key(to / 8)));
  }
  void add(uint64_t region, Wide sum) { negative_ ? regions_[region] -= sum : regions_[region] += sum; }

  int region_bits_;
  bool negative_ = false;
  std::vector<Wide> regions_;
};

// For one thread at a time.
class Comparison::Loan {
 public:
  Loan(Comparison& from, bool negative) : from_(from) {
    const std::lock_guard lock(from.mutex_);
    if (from.free_.empty()) {
      from.free_.reserve(from.all_.size() + 1);  // giving back cannot fail
      from.all_.push_back(std::make_unique<Sums>(from.bytes_, from.region_bits_));
      from.free_.push_back(from.all_.back().get());
    }
    sums_ = from.free_.back();
    from.free_.pop_back();
    sums_->set_negative(negative);
  }
  ~Loan() {
    const std::lock_guard lock(from_.mutex_);
    from_.free_.push_back(sums_);
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  Sums* operator->() const { return sums_; }
  Sums& operator*() const { return *sums_; }

 private:
  Comparison& from_;
  Sums* sums_;
};

// Elements that follow each other along the source's fastest axis, from its coordinate x on. `base` is where
// the one at coordinate 0 goes, if the axis is not mapped.
struct Comparison::Row {
  const std::byte* data;
  uint64_t base, x;
};

Comparison::Comparison(const Reordering& what) {
  const Reordering r = canonical(what);
  element_ = r.element_bytes;
  bytes_ = r.bytes();
  const uint64_t region = std::max(least_region_bytes, ceil_div(bytes_, most_regions));
  region_bits_ = static_cast<int>(std::bit_width(region - 1));
  axes_.resize(r.extents.size());
  uint64_t step = element_;
  for (size_t i = r.order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(r.order[i]);
    axes_[axis] = {r.extents[axis], step, r.mapped == r.order[i]};
    step *= r.extents[axis];
  }
  if (!r.mapped) return;
  map_ = r.map;
  uint64_t flip = 0;
  for (const uint64_t column : map_.matrix.columns()) flips_.push_back(flip ^= column);
}

Comparison::~Comparison() = default;

uint64_t Comparison::place(size_t axis, uint64_t coordinate) const {
  return (axes_[axis].mapped ? map_(coordinate) : coordinate) * axes_[axis].step;
}

void Comparison::add_target(uint64_t at, const std::byte* data, uint64_t bytes) {
  Loan(*this, false)->add_stretch(data, at, bytes);
}

void Comparison::subtract_source(uint64_t at, const std::byte* data, uint64_t bytes) {
  const Loan sums(*this, true);
  const auto part = [&](uint64_t most) {  // of the element at `at`
    uint64_t to = at % element_, index = at / element_;
    for (size_t axis = axes_.size(); axis-- > 0; index /= axes_[axis].extent)
      to += place(axis, index % axes_[axis].extent);
    const uint64_t now = std::min(bytes, most);
    sums->add_stretch(data, to, now);
    at += now, data += now, bytes -= now;
  };
  if (at % element_ != 0) part(element_ - at % element_);
  const uint64_t whole = bytes / element_;
  subtract_elements(*sums, at / element_, data, whole);
  at += whole * element_, data += whole * element_, bytes -= whole * element_;
  if (bytes > 0) part(bytes);
}

void Comparison::subtract_elements(Sums& sums, uint64_t first, const std::byte* data, uint64_t count) const {
  const size_t last = axes_.size() - 1;
  const Axis& inner = axes_[last];
  std::vector<uint64_t> at(last);  // the coordinates of the row along the other axes
  Row row{data, 0, 0};
  const auto move_to = [&](size_t axis, uint64_t coordinate) {
    row.base += place(axis, coordinate) - place(axis, at[axis]);
    at[axis] = coordinate;
  };
  if (count == 0) return;
  row.x = first % inner.extent;
  uint64_t index = first / inner.extent;
  row.base = 0;
  for (size_t axis = last; axis-- > 0; index /= axes_[axis].extent) {
    at[axis] = index % axes_[axis].extent;
    row.base += place(axis, at[axis]);
  }
  while (count > 0) {
    const uint64_t row_bytes = inner.extent * element_;
    uint64_t rows = 1;
    if (last > 0 && row.x == 0 && row_bytes <= short_row && !inner.mapped && !axes_[last - 1].mapped)
      rows = std::min(count / inner.extent, axes_[last - 1].extent - at[last - 1]);
    if (rows > inner.extent && element_ <= short_element) {
      with_unit(element_, [&](auto unit) {
        for (uint64_t byte = 0; byte < row_bytes; byte += sizeof unit)
          sums.add_line<decltype(unit)>(row.data + byte, row_bytes,
                                        row.base + byte / element_ * inner.step + byte % element_,
                                        axes_[last - 1].step, rows);
      });
      row.data += rows * row_bytes;
      count -= rows * inner.extent;
      move_to(last - 1, at[last - 1] + rows - 1);
    } else {
      const uint64_t now = std::min(count, inner.extent - row.x);
      subtract_row(sums, row, now);
      row.data += now * element_;
      count -= now;
    }
    row.x = 0;
    for (size_t axis = last; count > 0 && axis-- > 0;) {
      const bool carries = at[axis] + 1 == axes_[axis].extent;
      move_to(axis, carries ? 0 : at[axis] + 1);
      if (!carries) break;
    }
  }
}

void Comparison::subtract_row(Sums& sums, const Row& row, uint64_t count) const {
  const Axis& axis = axes_.back();
  const std::byte* from = row.data;
  if (axis.mapped) {
    const auto each = [&](const auto& add) {
      uint64_t x = row.x, y = map_(x);
      for (uint64_t i = 0; i < count; ++i, from += element_) {
        add(row.base + y * axis.step);
        if (i + 1 < count) y ^= flips_[static_cast<size_t>(std::countr_zero(++x))];
      }
    };
    if (element_ > short_element) return each([&](uint64_t to) { sums.add_stretch(from, to, element_); });
    return with_unit(element_, [&](auto unit) {
      each([&](uint64_t to) {
        for (uint64_t byte = 0; byte < element_; byte += sizeof unit)
          sums.add_unit<decltype(unit)>(from + byte, to + byte);
      });
    });
  }
  uint64_t to = row.base + row.x * axis.step;
  if (axis.step == element_) return sums.add_stretch(from, to, count * element_);
  if (element_ > short_element) {
    for (uint64_t i = 0; i < count; ++i, from += element_, to += axis.step)
      sums.add_stretch(from, to, element_);
    return;
  }
  with_unit(element_, [&](auto unit) {
    for (uint64_t byte = 0; byte < element_; byte += sizeof unit)
      sums.add_line<decltype(unit)>(from + byte, element_, to + byte, axis.step, count);
  });
}

std::vector<Stretch> Comparison::differences() const {
  const std::lock_guard lock(mutex_);
  std::vector<Stretch> found;
  for (uint64_t begin = 0, region = 0; begin < bytes_; begin += region_bytes(), ++region) {
    Wide sum = 0;
    for (const auto& sums : all_) sum += sums->regions()[region];
    if (sum == 0) continue;
    const uint64_t end = std::min(bytes_, begin + region_bytes());
    if (!found.empty() && found.back().end == begin)
      found.back().end = end;
    else
      found.push_back({begin, end});
  }
  return found;
}

}  // namespace xorder::verify
