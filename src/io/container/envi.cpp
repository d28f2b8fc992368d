// ENVI: a raw file, and a text with fields "name = value" beside it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "io/container/container.hpp"
#include "io/format/python_literal.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using EnviFields = std::map<std::string_view, std::string_view>;

constexpr std::string_view envi_fields[] = {"samples",
                                            "lines",
                                            "bands",
                                            "header offset",
                                            "data type",
                                            "interleave",
                                            "byte order",
                                            "file compression",
                                            "major frame offsets",
                                            "minor frame offsets"};

// Those that count; where one is there twice, the last. Lines without "=" and comments are passed over. A
// value in braces may have several lines.
EnviFields fields_of(std::string_view text) {
  EnviFields fields;
  const auto next_line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  next_line();  // "ENVI"
  while (!text.empty()) {
    const std::string_view line = next_line();
    const std::size_t sign = line.find('=');
    if (trimmed(line).starts_with(';') || sign == line.npos) continue;
    std::string_view value = trimmed(line.substr(sign + 1));
    if (value.starts_with('{')) {
      const std::string_view rest(value.data(),
                                  static_cast<std::size_t>(text.data() + text.size() - value.data()));
      const std::size_t brace = rest.find('}');
      if (brace == rest.npos)
        throw InputError(
            fmt::format("corrupt ENVI header: no }} after {}", excerpt(trimmed(line.substr(0, sign)))));
      value = rest.substr(0, brace + 1);
      text = rest.substr(brace + 1);
      next_line();
    }
    const auto* const known =
        std::ranges::find(envi_fields, in_small_letters(std::string(trimmed(line.substr(0, sign)))));
    if (known != std::end(envi_fields)) fields.insert_or_assign(*known, value);
  }
  return fields;
}

std::uint64_t envi_number(const EnviFields& fields, std::string_view name,
                          std::optional<std::uint64_t> otherwise = {}) {
  const auto found = fields.find(name);
  if (found == fields.end() && otherwise) return *otherwise;
  if (found == fields.end()) throw InputError(fmt::format("corrupt ENVI header: there is no '{}'", name));
  const std::int64_t value = whole_number(found->second, name);
  if (value < 0) throw InputError(fmt::format("corrupt ENVI header: '{}' is {}", name, value));
  return static_cast<std::uint64_t>(value);
}

DType envi_type(const EnviFields& fields) {
  static constexpr std::pair<std::uint64_t, const char*> types[] = {
      {1, "u1"},  {2, "i2"},  {3, "i4"},  {4, "f4"},  {5, "f8"}, {6, "c8"},
      {9, "c16"}, {12, "u2"}, {13, "u4"}, {14, "i8"}, {15, "u8"}};
  const std::uint64_t code = envi_number(fields, "data type");
  for (const auto& [known, type] : types) {
    if (known != code) continue;
    // For bytes it may be missing.
    const std::uint64_t order =
        envi_number(fields, "byte order", code == 1 ? std::optional<std::uint64_t>(0) : std::nullopt);
    if (order > 1)
      throw InputError(
          fmt::format("'byte order' is {}; expected 0 (little-endian) or 1 (big-endian)", order));
    return parse_dtype((order == 0 ? "<" : ">") + std::string(type));
  }
  throw InputError(fmt::format("'data type' is {}; expected 1 to 6, 9, or 12 to 15", code));
}

}  // namespace

std::vector<ContainedArray> read_envi(HeaderBytes& header, std::uint64_t data_bytes) {
  const EnviFields fields = fields_of(header.at(0, static_cast<std::size_t>(header.file_bytes())));
  const auto has = [&](const char* name) { return fields.contains(name); };
  ContainedArray array{
      .name = "data", .dtype = envi_type(fields), .offset = envi_number(fields, "header offset", 0)};
  const std::uint64_t lines = envi_number(fields, "lines"), samples = envi_number(fields, "samples"),
                      bands = envi_number(fields, "bands");
  const std::string interleave = has("interleave") ? in_small_letters(std::string(fields.at("interleave")))
                                 : bands == 1      ? "bsq"
                                                   : "missing";
  if (interleave == "bsq") {
    array.extents = {bands, lines, samples};
    array.axis_names = {"bands", "lines", "samples"};
  } else if (interleave == "bil") {
    array.extents = {lines, bands, samples};
    array.axis_names = {"lines", "bands", "samples"};
  } else if (interleave == "bip") {
    array.extents = {lines, samples, bands};
    array.axis_names = {"lines", "samples", "bands"};
  } else {
    throw InputError(fmt::format("'interleave' is {}; expected bsq, bil or bip", excerpt(interleave)));
  }
  if (envi_number(fields, "file compression", 0) != 0) {
    array.storage = "compressed";
    array.refusal = "its data are compressed; decompress them: gunzip -c";
  } else if (has("major frame offsets") || has("minor frame offsets")) {
    array.storage = "strided";
    array.refusal = "there are other bytes around its frames (major or minor frame offsets)";
  }
  check_inside(array, data_bytes);
  return {array};
}

}  // namespace xorder::io
