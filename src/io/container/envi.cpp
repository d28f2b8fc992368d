// ENVI: a raw file, and a text with fields "name = value" beside it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "io/container/container.hpp"
#include "io/container/envi.hpp"
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

// Calls f(name, value, text) for each field; `text` is all of its lines. Lines without "=" and comments are
// passed over. A value in braces may have several lines.
template <class F>
void for_each_field(std::string_view text, F f) {
  const auto next_line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  next_line();  // "ENVI"
  while (!text.empty()) {
    const char* const begin = text.data();
    const std::string_view line = next_line();
    const std::size_t sign = line.find('=');
    if (trimmed(line).starts_with(';') || sign == line.npos) continue;
    const std::string_view name = trimmed(line.substr(0, sign));
    std::string_view value = trimmed(line.substr(sign + 1));
    if (value.starts_with('{')) {
      const std::string_view rest(value.data(),
                                  static_cast<std::size_t>(text.data() + text.size() - value.data()));
      const std::size_t brace = rest.find('}');
      if (brace == rest.npos)
        throw InputError(fmt::format("corrupt ENVI header: no }} after {}", excerpt(name)));
      value = rest.substr(0, brace + 1);
      text = rest.substr(brace + 1);
      next_line();
    }
    f(in_small_letters(std::string(name)), value,
      std::string_view(begin, static_cast<std::size_t>(text.data() - begin)));
  }
}

// Those that count; where one is there twice, the last.
EnviFields fields_of(std::string_view text) {
  EnviFields fields;
  for_each_field(text, [&](const std::string& name, std::string_view value, std::string_view) {
    const auto* const known = std::ranges::find(envi_fields, name);
    if (known != std::end(envi_fields)) fields.insert_or_assign(*known, value);
  });
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

constexpr std::pair<std::uint64_t, const char*> envi_types[] = {
    {1, "u1"},  {2, "i2"},  {3, "i4"},  {4, "f4"},  {5, "f8"}, {6, "c8"},
    {9, "c16"}, {12, "u2"}, {13, "u4"}, {14, "i8"}, {15, "u8"}};

DType envi_type(const EnviFields& fields) {
  const std::uint64_t code = envi_number(fields, "data type");
  for (const auto& [known, type] : envi_types) {
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

namespace {

// What these say holds only for the axes that the input has.
constexpr std::string_view place_fields[] = {"map info",   "projection info", "coordinate system string",
                                             "geo points", "pixel size",      "rpc info",
                                             "x start",    "y start"};
constexpr std::string_view band_fields[] = {"band names",
                                            "wavelength",
                                            "fwhm",
                                            "bbl",
                                            "default bands",
                                            "data gain values",
                                            "data offset values",
                                            "data reflectance gain values",
                                            "data reflectance offset values"};

// The type's code, and 0 or 1 for the order of its bytes.
std::optional<std::pair<std::uint64_t, int>> envi_code(const DType& dtype) {
  for (const auto& [code, type] : envi_types) {
    if (dtype == parse_dtype("<" + std::string(type))) return {{code, 0}};
    if (dtype == parse_dtype(">" + std::string(type))) return {{code, 1}};
  }
  return std::nullopt;
}

}  // namespace

EnviHeader envi_header(const DType& dtype, const std::vector<std::uint64_t>& extents,
                       std::vector<int> kept_axes, const ArrayFile& input) {
  const auto type = envi_code(dtype);
  if (!type) return {{}, fmt::format("no ENVI header, since ENVI has no type {}", dtype.descr)};
  const std::vector<std::string>& names = input.axis_names;
  const auto fits = [&](std::size_t i) {
    return kept_axes[i] < 0 ||
           extents[i] == input.description.extents[static_cast<std::size_t>(kept_axes[i])];
  };
  if (names.size() != 3 || kept_axes.size() != 3 || extents.size() != 3 || !fits(0) || !fits(1) || !fits(2))
    return {{}, "no ENVI header, since it is not known which axes are lines, samples and bands"};
  // The axis that was mapped is the one that is missing. It is none of the input's, but has its place.
  for (int axis = 0; axis < 3; ++axis)
    if (std::ranges::find(kept_axes, axis) == kept_axes.end()) std::ranges::replace(kept_axes, -1, axis + 3);
  std::vector<std::string> axes;
  for (const int axis : kept_axes) axes.push_back(names[static_cast<std::size_t>(axis % 3)]);
  const auto position = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(axes, name) - axes.begin());
  };
  const std::size_t bands = position("bands"), lines = bands == 0 ? 1 : 0, samples = bands == 2 ? 1 : 2;

  HeaderBytes bytes(*input.header);
  const std::string text(bytes.at(0, static_cast<std::size_t>(bytes.file_bytes())));
  const EnviFields fields = fields_of(text);
  const auto unchanged = [&](const char* name) {
    const std::size_t at = position(name);
    const auto from = static_cast<std::size_t>(kept_axes[at]);
    return kept_axes[at] < 3 && extents[at] == envi_number(fields, name) &&
           input.description.strides[from] > 0;
  };
  const bool places = unchanged("lines") && unchanged("samples") && position("lines") < position("samples");
  EnviHeader header{fmt::format("ENVI\nsamples = {}\nlines = {}\nbands = {}\nheader offset = 0\n"
                                "data type = {}\ninterleave = {}\nbyte order = {}\n",
                                extents[samples], extents[lines], extents[bands], type->first,
                                bands == 0   ? "bsq"
                                : bands == 1 ? "bil"
                                             : "bip",
                                type->second),
                    {}};
  for_each_field(text, [&](const std::string& name, std::string_view, std::string_view lines_of_it) {
    const auto is_one_of = [&](const auto& list) { return std::ranges::find(list, name) != std::end(list); };
    if (is_one_of(envi_fields) || (is_one_of(place_fields) && !places) ||
        (is_one_of(band_fields) && !unchanged("bands")))
      return;
    header.text += lines_of_it;
    if (!header.text.ends_with('\n')) header.text += '\n';
  });
  return header;
}

}  // namespace xorder::io
