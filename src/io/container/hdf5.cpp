#include "io/container/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/descriptor.hpp"
#include "io/format/structured_type.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using nlohmann::json;

[[noreturn]] void nonsense(const char* what) {
  throw InputError(fmt::format("xorder-hdf5 described it wrongly: {}", what));
}

// A text of the program's own.
std::string plain_text(const json& value) {
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > 300 || std::ranges::any_of(text, [](char c) { return c < ' ' || c > '~'; }))
    nonsense("a text that is not plain");
  return text;
}

std::uint64_t natural(const json& value) {
  if (!value.is_number_unsigned()) nonsense("a number that is none");
  return value.get<std::uint64_t>();
}

const char* known_storage(const json& value) {
  for (const char* known : {"contiguous", "chunked", "compressed", "compact", "external", "virtual", "none"})
    if (value == known) return known;
  nonsense("a storage that is unknown");
}

ContainedArray array_of(const json& item, std::uint64_t file_bytes) {
  ContainedArray array{.name = item.at("name").get<std::string>(),
                       .storage = known_storage(item.at("storage")),
                       .refusal = plain_text(item.at("refusal"))};
  if (item.contains("aliases")) array.aliases = item["aliases"].get<std::vector<std::string>>();
  if (!item.contains("descr")) {
    if (array.refusal.empty()) nonsense("an array without a type");
    return array;
  }
  try {
    array.dtype = parse_descr(parse_literal(from_utf8(item["descr"].get_ref<const std::string&>())));
  } catch (const InputError& error) {
    if (array.refusal.empty()) array.refusal = error.what();
    return array;
  }
  if (array.dtype->bytes != natural(item.at("element_bytes"))) nonsense("a type of another size");
  for (const json& extent : item.at("shape")) array.extents.push_back(natural(extent));
  if (!array.refusal.empty()) return array;
  array.offset = natural(item.at("offset"));
  array.note = plain_text(item.at("note"));
  if (item.contains("axes")) array.axis_names = item["axes"].get<std::vector<std::string>>();
  if (!array.axis_names.empty() && array.axis_names.size() != array.extents.size())
    nonsense("names of other axes");
  check_inside(array, file_bytes);
  return array;
}

// Lists for lists and tuples.
json as_json(const Literal& literal) {
  if (literal.is(Literal::Kind::string)) return to_utf8(literal.text);
  if (literal.is(Literal::Kind::integer)) return std::stoull(to_utf8(literal.text));
  json list = json::array();
  for (const Literal& item : literal.items) list.push_back(as_json(item));
  return list;
}

}  // namespace

std::vector<ContainedArray> hdf5_arrays(std::string_view printed, std::uint64_t file_bytes) try {
  const json all = json::parse(printed);
  if (all.contains("error")) throw InputError(fmt::format("damaged: {}", plain_text(all["error"])));
  std::vector<ContainedArray> arrays;
  for (const json& item : all.at("arrays")) arrays.push_back(array_of(item, file_bytes));
  return arrays;
} catch (const json::exception&) {
  nonsense("not in the way that was agreed");
}

Hdf5Header hdf5_made(std::string_view printed, std::uint64_t array_bytes) try {
  const std::size_t line = std::min(printed.find('\n'), printed.size());
  const json answer = json::parse(printed.substr(0, line));
  if (answer.contains("error")) throw InputError(plain_text(answer["error"]));
  Hdf5Header made{std::string(printed.substr(std::min(line + 1, printed.size()))), {}};
  const std::uint64_t offset = natural(answer.at("offset")), size = natural(answer.at("size"));
  if (made.bytes.size() != offset || size < offset || size - offset != array_bytes)
    nonsense("a file whose data are elsewhere");
  std::vector<std::string> lost;
  for (const json& name : answer.at("lost")) lost.push_back(excerpt(name.get_ref<const std::string&>()));
  if (!lost.empty())
    made.note = fmt::format("attributes or dimension scales that were not copied: {}", fmt::join(lost, ", "));
  return made;
} catch (const json::exception&) {
  nonsense("not in the way that was agreed");
}

std::vector<ContainedArray> read_hdf5(const File& file, unsigned seconds) {
  return hdf5_arrays(run_hdf5_helper(file.plain_descriptor(), seconds), file.size());
}

Hdf5Header hdf5_header(const Hdf5Dataset& made, const ArrayFile& input) {
  if (!hdf5_helper())
    throw InputError(
        "an HDF5 file is made by xorder-hdf5, which is not here (it is built where libhdf5-dev is "
        "installed)");
  from_utf8(made.path);  // or throw
  json request{{"dataset", made.path},
               {"shape", made.extents},
               {"element_bytes", made.dtype.bytes},
               {"descr", made.dtype.descr},
               {"type", as_json(parse_literal(from_utf8(made.dtype.descr)))}};
  const bool like = input.format == Format::hdf5;
  if (like) {
    request["source"] = input.member;
    if (input.description.is_contiguous(Order::c)) request["axes"] = made.axes;
  }
  const Descriptor none(open("/dev/null", O_RDONLY | O_CLOEXEC));
  constexpr unsigned seconds = 60;
  const std::string printed = run_hdf5_helper(like ? input.file->plain_descriptor() : none.get(), seconds,
                                              request.dump(-1, ' ', false, json::error_handler_t::replace));
  return hdf5_made(printed, checked_bytes({made.extents, made.dtype.bytes, Order::c}));
}

}  // namespace xorder::io
