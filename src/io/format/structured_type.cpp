#include "io/format/structured_type.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "io/format/type_string.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using Kind = Literal::Kind;

[[noreturn]] void too_large() {
  throw InputError(fmt::format("the elements are too large; one has at most {} bytes", max_element_bytes));
}

std::uint64_t type_bytes(Literal& type);

// The number of elements of a subarray within an element. A single integer is short for one axis.
std::uint64_t subarray_elements(const Literal& extents) {
  if (extents.is(Kind::integer)) return parse_extent(extents);
  if (!extents.is(Kind::tuple))
    throw InputError(fmt::format("subarray of extents {}; expected a tuple of integers such as (2, 3)",
                                 excerpt(to_python(extents))));
  std::uint64_t elements = 1;
  for (const Literal& item : extents.items) {
    const std::uint64_t extent = parse_extent(item);
    if (extent > max_element_bytes) too_large();
    elements *= extent;  // both factors are below 2^31
    if (elements > max_element_bytes) too_large();
  }
  return elements;
}

std::uint64_t subarray_bytes(std::uint64_t base, const Literal& extents) {
  const std::uint64_t elements = subarray_elements(extents);
  // NumPy refuses some of these, and takes ('S', 3) for S3.
  if (base == 0) throw InputError("a subarray of elements of no bytes; a type such as S3 has its size in it");
  if (elements > max_element_bytes / base) too_large();
  return base * elements;
}

void claim_name(std::set<std::string>& taken, const Literal& name) {
  const std::string text = to_python(name);
  if (!taken.insert(text).second) throw InputError(fmt::format("two fields are named {}", excerpt(text)));
}

void check_names(std::set<std::string>& taken, const Literal& name) {
  const bool titled = name.is(Kind::tuple) && name.items.size() == 2;
  const Literal& plain = titled ? name.items[1] : name;
  if (!plain.is(Kind::string))
    throw InputError(
        fmt::format("field name {}; expected a string or (title, string)", excerpt(to_python(name))));
  if (!plain.text.empty()) claim_name(taken, plain);
  if (!titled) return;
  // NumPy keeps titles and names in one dictionary, so a title may be any dictionary key.
  const Literal& title = name.items[0];
  if (title.is(Kind::list) || title.is(Kind::dictionary))
    throw InputError(fmt::format("field title {}; expected a string", excerpt(to_python(title))));
  if (!title.is(Kind::none)) claim_name(taken, title);
}

std::uint64_t structure_bytes(Literal& fields) {
  std::set<std::string> taken;
  std::uint64_t bytes = 0;
  for (Literal& field : fields.items) {
    if (!field.is(Kind::tuple) || field.items.size() < 2 || field.items.size() > 3)
      throw InputError(
          fmt::format("field {}; expected (name, type) or (name, type, extents)", excerpt(to_python(field))));
    check_names(taken, field.items[0]);
    std::uint64_t size = type_bytes(field.items[1]);
    if (field.items.size() == 3) size = subarray_bytes(size, field.items[2]);
    bytes += size;  // both are below 2^31
    if (bytes > max_element_bytes) too_large();
  }
  return bytes;
}

// Also rewrites type strings to their canonical form.
std::uint64_t type_bytes(Literal& type) {
  if (type.is(Kind::string)) {
    const TypeString parsed = parse_type_string(to_utf8(type.text));
    type.text = from_utf8(parsed.canonical);
    return parsed.bytes;
  }
  if (type.is(Kind::list)) return structure_bytes(type);
  if (type.is(Kind::tuple) && type.items.size() == 2) {
    const std::uint64_t base = type_bytes(type.items[0]);
    return subarray_bytes(base, type.items[1]);
  }
  throw InputError(fmt::format("type {}; expected a type string such as '<f8' or a list of fields",
                               excerpt(to_python(type))));
}

}  // namespace

std::uint64_t parse_extent(const Literal& extent) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  if (!extent.is(Kind::integer))
    throw InputError(fmt::format("extent {}; expected an integer", excerpt(to_python(extent))));
  if (extent.text[0] == U'-')
    throw InputError(fmt::format("negative extent {}; the least is 0", excerpt(extent.text)));
  std::uint64_t value = 0;
  for (const char32_t digit : extent.text) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - U'0', &value) ||
        value >= limit)
      throw InputError(fmt::format("extent {}; it must be below 2^63", excerpt(extent.text)));
  }
  return value;
}

DType parse_descr(Literal descr) {
  // NumPy moves the axes of a bare subarray to the array. The header's shape no longer fits then, and NumPy
  // refuses the file.
  if (descr.is(Kind::tuple))
    throw InputError(
        fmt::format("type {} is a bare subarray; its axes belong in the shape", excerpt(to_python(descr))));
  const std::uint64_t bytes = type_bytes(descr);
  std::string text = to_python(descr);
  if (bytes == 0)
    throw InputError(
        fmt::format("type {} has elements of no bytes; there is nothing to move", excerpt(text)));
  return {bytes, std::move(text)};
}

}  // namespace xorder::io
