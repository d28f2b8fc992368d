// FITS (Standard 4.0): headers of 80-character cards in blocks of 2880 bytes, each followed by its data
// in whole blocks. Numbers are big-endian, and NAXIS1 is the fastest axis.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "io/container/container.hpp"
#include "io/format/python_literal.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr std::size_t fits_block = 2880, fits_card = 80;

// The text of a value without its comment; of a string without quotes and the blanks at its end.
std::string card_value(std::string_view field) {
  field = trimmed(field);
  if (!field.starts_with('\'')) return std::string(trimmed(field.substr(0, field.find('/'))));
  std::string text;
  for (std::size_t i = 1; i < field.size(); ++i) {
    if (field[i] == '\'' && (++i == field.size() || field[i] != '\'')) break;
    text += field[i];
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

class FitsHeader {
 public:
  // Reads all of it; `at` goes to the data behind it.
  FitsHeader(HeaderBytes& file, std::uint64_t& at) {
    for (bool end = false; !end; at += fits_block) {
      const std::string_view block = file.at(at, fits_block);
      for (std::size_t i = 0; i < block.size() && !end; i += fits_card) {
        const std::string_view card = block.substr(i, fits_card), keyword = trimmed(card.substr(0, 8));
        end = keyword == "END";
        if (card[8] == '=' && counts(keyword)) values_.emplace(keyword, card_value(card.substr(9)));
      }
    }
  }

  /// What stands there; empty if there is no such card.
  std::string text(const std::string& keyword) const {
    const auto found = values_.find(keyword);
    return found == values_.end() ? "" : found->second;
  }
  bool is_true(const std::string& keyword) const { return text(keyword) == "T"; }
  std::int64_t integer(const std::string& keyword, std::optional<std::int64_t> otherwise = {}) const {
    const std::string value = text(keyword);
    if (value.empty() && otherwise) return *otherwise;
    if (value.empty()) throw InputError(fmt::format("corrupt FITS header: there is no {}", keyword));
    return whole_number(value, keyword);
  }
  /// A number, or `otherwise` if there is none or nothing that can be read as one.
  double real(const std::string& keyword, double otherwise) const {
    std::string value = text(keyword);
    std::ranges::replace(value, 'D', 'E');
    const char* const begin = value.c_str() + (value.starts_with('+') ? 1 : 0);
    std::from_chars(begin, value.c_str() + value.size(), otherwise);
    return otherwise;
  }
  /// NAXISn or ZNAXISn, the slowest axis first.
  std::vector<std::uint64_t> extents(const std::string& naxis) const {
    const std::int64_t axes = integer(naxis);
    if (axes < 0 || axes > 999) throw InputError(fmt::format("{} is {}; expected 0 to 999", naxis, axes));
    std::vector<std::uint64_t> extents;
    for (std::int64_t axis = axes; axis > 0; --axis) {
      const std::int64_t extent = integer(fmt::format("{}{}", naxis, axis));
      if (extent < 0) throw InputError(fmt::format("{}{} is {}; the least is 0", naxis, axis, extent));
      extents.push_back(static_cast<std::uint64_t>(extent));
    }
    return extents;
  }

 private:
  static bool counts(std::string_view keyword) {
    static constexpr std::string_view known[] = {"SIMPLE", "XTENSION", "BITPIX",  "PCOUNT",
                                                 "GCOUNT", "GROUPS",   "EXTNAME", "EXTVER",
                                                 "BSCALE", "BZERO",    "ZIMAGE",  "ZBITPIX"};
    return keyword.starts_with("NAXIS") || keyword.starts_with("ZNAXIS") ||
           std::ranges::find(known, keyword) != std::end(known);
  }

  std::map<std::string, std::string, std::less<>> values_;  // the first of each
};

// Absent for what BITPIX cannot be.
std::optional<DType> fits_type(std::int64_t bitpix) {
  for (const auto& [bits, type] :
       {std::pair(8, "u1"), {16, ">i2"}, {32, ">i4"}, {64, ">i8"}, {-32, ">f4"}, {-64, ">f8"}}) {
    if (bits == bitpix) return parse_dtype(type);
  }
  return {};
}

// The bytes of the data, without what fills the last block.
std::uint64_t fits_data_bytes(const FitsHeader& header, const std::vector<std::uint64_t>& extents) {
  const std::int64_t pcount = header.integer("PCOUNT", 0), gcount = header.integer("GCOUNT", 1);
  if (pcount < 0 || gcount < 0) throw InputError("PCOUNT or GCOUNT is negative");
  const bool groups = header.is_true("GROUPS") && !extents.empty() && extents.back() == 0;
  std::uint64_t elements = extents.empty() ? 0 : 1;
  bool overflow = false;
  for (std::size_t i = 0; i + (groups ? 1 : 0) < extents.size(); ++i)
    overflow |= __builtin_mul_overflow(elements, extents[i], &elements);
  overflow |= __builtin_add_overflow(elements, static_cast<std::uint64_t>(pcount), &elements);
  overflow |= __builtin_mul_overflow(elements, static_cast<std::uint64_t>(gcount), &elements);
  const std::uint64_t bytes = fits_type(header.integer("BITPIX"))->bytes;
  overflow |= __builtin_mul_overflow(elements, bytes, &elements);
  if (overflow) throw InputError("its NAXIS, PCOUNT and GCOUNT make 2^64 bytes or more");
  return elements;
}

std::string fits_note(const FitsHeader& header, std::int64_t bitpix) {
  const double scale = header.real("BSCALE", 1), zero = header.real("BZERO", 0);
  if (scale == 1 && zero == 0) return {};
  const double half = bitpix == 16 ? 0x1p15 : bitpix == 32 ? 0x1p31 : 0x1p63;
  if (scale == 1 && bitpix >= 16 && zero == half)
    return fmt::format(
        "its numbers stand for unsigned ones, BZERO = {} less; they are moved as they are stored",
        header.text("BZERO"));
  if (scale == 1 && bitpix == 8 && zero == -128)
    return "its numbers stand for signed ones, 128 more (BZERO); they are moved as they are stored";
  return fmt::format(
      "its numbers stand for others (BSCALE = {}, BZERO = {}); they are moved as they are stored", scale,
      zero);
}

// Requires that BITPIX is known. The data begin at `at`.
ContainedArray fits_array(const FitsHeader& header, std::size_t number, std::uint64_t at,
                          std::uint64_t file_bytes) {
  ContainedArray array{.name = std::to_string(number), .offset = at};
  const std::string extver = header.text("EXTVER");
  if (const std::string name = header.text("EXTNAME"); !name.empty())
    array.aliases = {name, fmt::format("{},{}", name, extver.empty() ? "1" : extver)};
  const std::string kind = number == 0 ? "IMAGE" : header.text("XTENSION");
  const auto describe = [&](const std::string& prefix) {
    array.dtype = fits_type(header.integer(prefix + "BITPIX"));
    array.extents = header.extents(prefix + "NAXIS");
  };
  if (kind != "IMAGE") {
    array.storage = "table";
    array.refusal = kind == "BINTABLE" ? "a binary table" : kind == "TABLE" ? "a table of text" : "";
    if (array.refusal.empty()) array.refusal = fmt::format("an extension of type {}", excerpt(kind));
    if (kind == "BINTABLE" && header.is_true("ZIMAGE")) {
      array.storage = "compressed";
      array.refusal = fmt::format(
          "a compressed image; in Python: numpy.save(OUT, astropy.io.fits.getdata(IN, {}))", number);
      describe("Z");
    }
    return array;
  }
  describe("");
  const auto& extents = array.extents;
  if (header.is_true("GROUPS") && !extents.empty() && extents.back() == 0) {
    array.refusal = "random groups, which are no array";
  } else if (extents.empty() || std::ranges::find(extents, 0u) != extents.end()) {
    array.storage = "none";
    array.refusal = "it has no data";
  }
  if (!array.refusal.empty()) return array;
  array.note = fits_note(header, header.integer("BITPIX"));
  check_inside(array, file_bytes);
  return array;
}

}  // namespace

std::vector<ContainedArray> read_fits(HeaderBytes& file) {
  std::vector<ContainedArray> arrays;
  std::uint64_t at = 0;
  // What follows the last HDU, such as special records, is none.
  const auto follows = [&] {
    return at < file.file_bytes() && file.file_bytes() - at >= 8 && file.at(at, 8) == "XTENSION";
  };
  while (arrays.empty() || follows()) {
    const std::size_t number = arrays.size();
    try {
      const FitsHeader header(file, at);
      if (const std::int64_t bitpix = header.integer("BITPIX"); !fits_type(bitpix))
        throw InputError(fmt::format("BITPIX is {}; expected 8, 16, 32, 64, -32 or -64", bitpix));
      const std::uint64_t bytes = fits_data_bytes(header, header.extents("NAXIS"));
      arrays.push_back(fits_array(header, number, at, file.file_bytes()));
      if (bytes > file.file_bytes() - at) break;
      at += round_up(bytes, fits_block);
    } catch (const InputError& error) {
      throw InputError(fmt::format("HDU {}: {}", number, error.what()));
    }
  }
  return arrays;
}

}  // namespace xorder::io
