// NetCDF classic: CDF-1, CDF-2 with 64-bit offsets, and CDF-5 with 64-bit sizes. Numbers are big-endian. A
// variable over the record dimension is cut into slices, one in each record, between those of others.
#include <fmt/format.h>

#include <algorithm>

#include "io/container/container.hpp"
#include "io/format/python_literal.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

// Of dimensions, variables, a variable's dimensions or attributes: NetCDF's library allows no more variables.
constexpr std::uint64_t most_items = 65536;

struct Dimension {
  std::string name;
  std::uint64_t length = 0;  // 0: the record dimension
};

struct Variable {
  ContainedArray array;
  bool record = false;
  std::uint64_t slice_bytes = 0;  // of one record, without padding
};

struct External {
  const char* type;
  std::uint64_t bytes;
};
// By nc_type, from 1 on.
constexpr External externals[] = {{"i1", 1}, {"S1", 1},  {">i2", 2}, {">i4", 4}, {">f4", 4}, {">f8", 8},
                                  {"u1", 1}, {">u2", 2}, {">u4", 4}, {">i8", 8}, {">u8", 8}};

[[noreturn]] void corrupt_cdf(const std::string& reason) {
  throw InputError(fmt::format("corrupt NetCDF header: {}", reason));
}

class CdfReader {
 public:
  explicit CdfReader(HeaderBytes& file) : file_(file), version_(static_cast<int>(unsigned_of(4) & 0xff)) {}

  std::vector<ContainedArray> all() {
    const std::uint64_t streaming = version_ == 5 ? ~std::uint64_t{0} : 0xffffffff;
    if (version_ != 1 && version_ != 2 && version_ != 5)
      corrupt_cdf(fmt::format("version {}; known are 1, 2 and 5", version_));
    records_ = unsigned_of(size_bytes());
    const bool counted = records_ != streaming;
    for (std::uint64_t i = items("dimensions", 10); i > 0; --i) dimensions_.push_back(dimension());
    if (std::ranges::count(dimensions_, 0u, &Dimension::length) > 1)
      corrupt_cdf("more than one dimension without a length");
    attributes("");
    for (std::uint64_t i = items("variables", 11); i > 0; --i) variables_.push_back(variable());
    place_records(counted);
    std::vector<ContainedArray> arrays;
    for (Variable& v : variables_) arrays.push_back(std::move(v.array));
    return arrays;
  }

 private:
  std::size_t size_bytes() const { return version_ == 5 ? 8 : 4; }

  std::uint64_t unsigned_of(std::size_t bytes) {
    const std::uint64_t value = number_of(file_.at(at_, bytes), false);
    at_ += bytes;
    return value;
  }

  // A count or size that is not negative.
  std::uint64_t size(const char* what) {
    const std::uint64_t value = unsigned_of(size_bytes());
    if (value >> (8 * size_bytes() - 1) != 0) corrupt_cdf(fmt::format("a negative number of {}", what));
    return value;
  }

  std::uint64_t items(const char* what, std::uint64_t expected_tag) {
    const std::uint64_t tag = unsigned_of(4), count = size(what);
    if (tag != expected_tag && (tag != 0 || count != 0))
      corrupt_cdf(fmt::format("tag {} where {} begin; expected {} or none", tag, what, expected_tag));
    return limited(count, what);
  }

  static std::uint64_t limited(std::uint64_t count, const char* what) {
    if (count > most_items) corrupt_cdf(fmt::format("{} {}; at most {} are read", count, what, most_items));
    return count;
  }

  // Leaves out that many bytes and what fills the last four.
  void skip(std::uint64_t bytes) {
    if (bytes > file_.file_bytes()) corrupt_cdf(fmt::format("truncated in {} bytes at byte {}", bytes, at_));
    at_ += round_up(bytes, 4);
  }

  std::string name() {
    constexpr std::uint64_t longest = 1024;
    const std::uint64_t bytes = size("characters");
    if (bytes > longest) corrupt_cdf(fmt::format("a name of {} bytes; at most {} are read", bytes, longest));
    std::string text(file_.at(at_, static_cast<std::size_t>(bytes)));
    skip(bytes);
    return text;
  }

  Dimension dimension() {
    Dimension made{.name = name()};
    made.length = size("elements");
    return made;
  }

  const External& external() {
    const std::uint64_t type = unsigned_of(4), types = version_ == 5 ? 11 : 6;
    if (type < 1 || type > types) corrupt_cdf(fmt::format("type {}; expected 1 to {}", type, types));
    return externals[type - 1];
  }

  // Of a variable, or of the file. What those of packed numbers say, for a note.
  std::string attributes(const std::string& variable) {
    std::string packed;
    for (std::uint64_t i = items("attributes", 12); i > 0; --i) {
      const std::string attribute = name();
      const External& type = external();
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(size("values"), type.bytes, &bytes))
        corrupt_cdf("an attribute of 2^64 bytes");
      skip(bytes);
      if (!variable.empty() &&
          (attribute == "scale_factor" || attribute == "add_offset" || attribute == "_Unsigned"))
        packed += (packed.empty() ? "" : ", ") + attribute;
    }
    if (packed.empty()) return {};
    return fmt::format("its numbers stand for others ({}); they are moved as they are stored", packed);
  }

  Variable variable() {
    Variable made;
    ContainedArray& array = made.array;
    array.name = name();
    for (std::uint64_t i = 0, rank = limited(size("axes"), "axes"); i < rank; ++i) {
      const std::uint64_t number = unsigned_of(size_bytes());
      if (number >= dimensions_.size())
        corrupt_cdf(
            fmt::format("{} has dimension {} of {}", excerpt(array.name), number, dimensions_.size()));
      const Dimension& dimension = dimensions_[static_cast<std::size_t>(number)];
      if (dimension.length == 0 && i != 0)
        corrupt_cdf(fmt::format("{} has records along axis {}; expected axis 0", excerpt(array.name), i));
      made.record |= dimension.length == 0;
      array.extents.push_back(dimension.length);
      array.axis_names.push_back(dimension.name);
      name_bytes_ += sizeof(std::string) + dimension.name.size();
      if (name_bytes_ > 4 * max_header_bytes) corrupt_cdf("more axes than can be read");
    }
    array.note = attributes(array.name);
    const External& type = external();
    array.dtype = parse_dtype(type.type);
    unsigned_of(size_bytes());  // the size, which is wrong for large variables, and follows from the rest
    array.offset = unsigned_of(version_ == 1 ? 4 : 8);
    made.slice_bytes = type.bytes;
    for (std::size_t i = made.record ? 1 : 0; i < array.extents.size(); ++i) {
      if (__builtin_mul_overflow(made.slice_bytes, array.extents[i], &made.slice_bytes) ||
          made.slice_bytes >> 62 != 0)
        corrupt_cdf(fmt::format("{} has 2^62 bytes or more", excerpt(array.name)));
    }
    if (!made.record) check_inside(array, file_.file_bytes());
    return made;
  }

  // Records of one variable only are not padded.
  void place_records(bool counted) {
    std::uint64_t record_bytes = 0, begin = file_.file_bytes();
    const auto several = std::ranges::count_if(variables_, &Variable::record) > 1;
    for (const Variable& v : variables_) {
      if (!v.record) continue;
      record_bytes += several ? round_up(v.slice_bytes, 4) : v.slice_bytes;
      if (record_bytes >> 62 != 0) corrupt_cdf("records of 2^62 bytes or more");
      begin = std::min(begin, v.array.offset);
    }
    if (!counted) records_ = record_bytes == 0 ? 0 : (file_.file_bytes() - begin) / record_bytes;
    for (Variable& v : variables_) {
      if (!v.record) continue;
      v.array.extents.front() = records_;
      if (records_ > 1 && record_bytes != v.slice_bytes) {
        v.array.pitch = record_bytes;
        v.array.storage = "strided";
      }
      check_inside(v.array, file_.file_bytes());
    }
  }

  HeaderBytes& file_;
  std::uint64_t at_ = 0;
  int version_;
  std::uint64_t records_ = 0, name_bytes_ = 0;
  std::vector<Dimension> dimensions_;
  std::vector<Variable> variables_;
};

}  // namespace

std::vector<ContainedArray> read_netcdf(HeaderBytes& file) { return CdfReader(file).all(); }

}  // namespace xorder::io
