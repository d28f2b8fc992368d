#include "io/format/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/format/python_literal.hpp"
#include "io/format/stored_number.hpp"
#include "io/format/structured_type.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using Kind = Literal::Kind;

// The preamble is the magic string, the major and minor version, and the length of the rest of the header.
std::size_t preamble_bytes(int version) { return npy_magic.size() + 2 + (version == 1 ? 2 : 4); }

// Every error of reading passes here, to get the file's name in front. The name may legally contain line
// breaks.
[[noreturn]] void refuse(const std::string& name, std::string_view reason) {
  std::string line = name;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  throw InputError(fmt::format("{}: {}", line, reason));
}

[[noreturn]] void corrupt(std::string_view reason) {
  throw InputError(fmt::format("corrupt .npy header: {}", reason));
}

int version_of(std::string_view head) {
  if (!head.starts_with(npy_magic))
    throw InputError(fmt::format("not an .npy file: begins with {}; expected {}",
                                 excerpt(head.substr(0, npy_magic.size())), excerpt(npy_magic)));
  if (head.size() < npy_magic.size() + 2) corrupt("truncated in the version; expected 1.0, 2.0 or 3.0");
  const int major = static_cast<unsigned char>(head[npy_magic.size()]);
  const int minor = static_cast<unsigned char>(head[npy_magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    throw InputError(fmt::format(".npy version {}.{} is unknown; known are 1.0, 2.0 and 3.0", major, minor));
  return major;
}

std::uint64_t data_offset(std::string_view head, std::uint64_t file_bytes) {
  const int version = version_of(head);
  const std::size_t preamble = preamble_bytes(version);
  if (head.size() < preamble)
    corrupt(fmt::format("truncated at byte {}; its length ends at byte {}", head.size(), preamble));
  const std::size_t length_at = npy_magic.size() + 2;
  const std::uint64_t offset = preamble + number_of(head.substr(length_at, preamble - length_at), true);
  if (offset > max_npy_header_bytes)
    throw InputError(
        fmt::format(".npy header of {} bytes; at most {} are read", offset, max_npy_header_bytes));
  if (offset > file_bytes)
    throw InputError(
        fmt::format("truncated: its .npy header has {} bytes, the file has {}", offset, file_bytes));
  return offset;
}

struct Entries {
  Literal descr, fortran_order, shape;
};

Entries entries_of(Literal header) {
  if (!header.is(Kind::dictionary))
    corrupt("not a dictionary; expected {'descr': .., 'fortran_order': .., 'shape': ..}");
  Entries entries;
  struct {
    std::u32string_view name;
    Literal* value;
    bool seen = false;  // perhaps more than once: as in Python, the last value counts
  } keys[] = {
      {U"descr", &entries.descr}, {U"fortran_order", &entries.fortran_order}, {U"shape", &entries.shape}};

  for (std::size_t i = 0; i < header.items.size(); i += 2) {
    const Literal& name = header.items[i];
    const auto key =
        std::find_if(std::begin(keys), std::end(keys), [&](const auto& k) { return k.name == name.text; });
    if (!name.is(Kind::string) || key == std::end(keys))
      corrupt(
          fmt::format("unknown key {}; expected descr, fortran_order and shape", excerpt(to_python(name))));
    key->seen = true;
    *key->value = std::move(header.items[i + 1]);
  }
  for (const auto& key : keys) {
    if (!key.seen)
      corrupt(fmt::format("no key {}; expected descr, fortran_order and shape", excerpt(key.name)));
  }
  return entries;
}

Entries read_entries(int version, std::string_view bytes) {
  Literal header;
  try {
    header = parse_literal(version == 3 ? from_utf8(bytes) : from_latin1(bytes));
  } catch (const InputError& error) {
    corrupt(error.what());
  }
  return entries_of(std::move(header));
}

std::vector<std::uint64_t> extents_of(const Literal& shape) {
  if (!shape.is(Kind::tuple))
    corrupt(fmt::format("shape {}; expected a tuple such as (3, 4) or (3,)", excerpt(to_python(shape))));
  check_rank(shape.items.size());
  std::vector<std::uint64_t> extents;
  for (const Literal& item : shape.items) extents.push_back(parse_extent(item));
  return extents;
}

// Bytes behind the array are none of its business: numpy.load ignores them too.
void check_file_size(const ArrayShape& array, std::uint64_t offset, std::uint64_t file_bytes) {
  const std::uint64_t whole = offset + checked_bytes(array);
  if (whole <= file_bytes) return;
  throw InputError(
      fmt::format("truncated: its .npy header makes {} bytes (offset {} + {} bytes x shape ({})), the file "
                  "has {}",
                  whole, offset, array.element_bytes, fmt::join(array.extents, ", "), file_bytes));
}

ArrayDescription parse(std::string_view header, std::uint64_t file_bytes) {
  const std::uint64_t offset = data_offset(header, file_bytes);
  if (header.size() < offset) corrupt(fmt::format("truncated at byte {} of {}", header.size(), offset));
  const int version = version_of(header);
  const std::size_t preamble = preamble_bytes(version);
  Entries entries = read_entries(version, header.substr(preamble, offset - preamble));
  if (!entries.fortran_order.is(Kind::boolean))
    corrupt(
        fmt::format("fortran_order {}; expected True or False", excerpt(to_python(entries.fortran_order))));

  DType dtype = parse_descr(std::move(entries.descr));
  std::vector<std::uint64_t> extents = extents_of(entries.shape);
  check_file_size({extents, dtype.bytes, Order::c}, offset, file_bytes);
  return ArrayDescription::contiguous(std::move(dtype), std::move(extents),
                                      entries.fortran_order.truth ? Order::fortran : Order::c, offset);
}

// The size to which a header of `least` bytes is padded: see npy_header(). Whole pages suit direct transfers.
std::uint64_t padded(std::uint64_t least, bool short_ones) {
  constexpr std::uint64_t page = 4096, numpy_alignment = 64;
  // NumPy's limit of 10,000 characters excludes the preamble. The largest multiple of 64 that it reads is
  // 9,984.
  constexpr std::uint64_t numpy_limit = 9984;
  const std::uint64_t pages = round_up(least, page);
  const bool as_numpy = short_ones || (least <= numpy_limit && pages > numpy_limit);
  return as_numpy ? round_up(least, numpy_alignment) : pages;
}

}  // namespace

std::uint64_t npy_data_offset(std::string_view head, std::uint64_t file_bytes, const std::string& name) {
  try {
    return data_offset(head, file_bytes);
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
}

void check_rank(std::size_t axes, const std::string& before) {
  if (axes > max_axes)
    throw InputError(fmt::format("{}shape of {} axes; NumPy has at most {}", before, axes, max_axes));
}

ArrayDescription parse_npy_header(std::string_view header, std::uint64_t file_bytes,
                                  const std::string& name) {
  try {
    return parse(header, file_bytes);
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
}

namespace {

// As NumPy writes it, and whether all of it is ASCII.
std::pair<std::string, bool> header_text(const DType& dtype, const std::vector<std::uint64_t>& extents,
                                         Order order) {
  // It says True only where it matters.
  const bool empty = std::ranges::find(extents, 0u) != extents.end();
  const bool fortran =
      order == Order::fortran && !empty && std::ranges::count_if(extents, [](auto e) { return e > 1; }) > 1;
  std::string text =
      fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({}{}), }}", dtype.descr,
                  fortran ? "True" : "False", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return {std::move(text), ascii};
}

std::string header_of(int version, const std::string& text, std::uint64_t whole) {
  const std::size_t preamble = preamble_bytes(version);
  std::string header(npy_magic);
  header += static_cast<char>(version);
  header += '\0';
  const std::uint64_t length = whole - preamble;
  for (std::size_t i = 0; i < preamble - npy_magic.size() - 2; ++i)
    header += static_cast<char>(length >> 8 * i & 0xff);
  header += text;
  header.append(static_cast<std::size_t>(whole) - header.size() - 1, ' ');
  header += '\n';
  return header;
}

// Version 1 has a 16-bit length. The padding counts.
int version_for(std::uint64_t whole_of_1, bool ascii) {
  return !ascii ? 3 : whole_of_1 - preamble_bytes(1) <= 0xffff ? 1 : 2;
}

}  // namespace

std::string npy_header(const DType& dtype, const std::vector<std::uint64_t>& extents, Order order,
                       bool compact) {
  const auto [text, ascii] = header_text(dtype, extents, order);
  const bool as_numpy = compact || std::ranges::find(extents, 0u) != extents.end();
  const int version = version_for(padded(preamble_bytes(1) + text.size() + 1, as_numpy), ascii);
  const std::uint64_t whole = padded(preamble_bytes(version) + text.size() + 1, as_numpy);
  if (whole > max_npy_header_bytes)
    throw InputError(
        fmt::format("the type's description makes an .npy header of {} bytes; at most {} are read", whole,
                    max_npy_header_bytes));
  return header_of(version, text, whole);
}

std::string npy_header_of(std::uint64_t bytes, const DType& dtype, const std::vector<std::uint64_t>& extents,
                          Order order) {
  const auto [text, ascii] = header_text(dtype, extents, order);
  const int version = version_for(bytes, ascii);
  if (const std::uint64_t least = preamble_bytes(version) + text.size() + 1; least > bytes)
    throw InputError(fmt::format("its .npy header has {} bytes, that of the shape ({}) takes {}", bytes,
                                 fmt::join(extents, ", "), least));
  return header_of(version, text, bytes);
}

}  // namespace xorder::io
