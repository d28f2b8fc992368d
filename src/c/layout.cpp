#include "c/layout.hpp"

#include <memory>

#include "c/arguments.hpp"
#include "c/border.hpp"
#include "io/file.hpp"
#include "io/format/structured_type.hpp"
#include "text/json_text.hpp"
#include "work/json.hpp"

xorder_layout::xorder_layout(xorder::io::ArrayFile of)
    : array(std::move(of)),
      json(xorder::json_text(xorder::work::file_json(array))),
      path(array.file->name()) {}

namespace xorder::c {
namespace {

// As in an .npy header, or as users write it.
io::DType parsed_type(const std::string& text) {
  if (!text.starts_with('[')) return io::parse_dtype(text);
  return io::parse_descr(io::parse_literal(io::from_utf8(text)));
}

}  // namespace
}  // namespace xorder::c

using namespace xorder::c;

int xorder_layout_open(xorder_layout** out, const char* path) {
  return made(out, [&] {
    require(path, "path");
    return std::make_unique<xorder_layout>(xorder::io::open_array(path, {}));
  });
}

int xorder_layout_strided(xorder_layout** out, const char* path, uint64_t offset, const char* dtype, int rank,
                          const uint64_t* shape, const int64_t* strides) {
  return made(out, [&] {
    require(path, "path");
    require(dtype, "dtype");
    if (checked_rank(rank) != 0) require(shape, "shape");
    xorder::io::RawLayout raw{parsed_type(dtype), std::vector<uint64_t>(shape, shape + rank), offset};
    if (strides != nullptr) raw.strides.assign(strides, strides + rank);
    raw.ignore_rest = true;
    auto layout = std::make_unique<xorder_layout>(xorder::io::open_raw_array(path, raw));
    // It has a type, so an output of any other name is .npy. Nobody misses what lies behind it.
    layout->array.format = xorder::io::Format::npy;
    layout->array.rest = 0;
    return layout;
  });
}

const char* xorder_layout_json(const xorder_layout* layout) {
  return layout == nullptr ? "" : layout->json.c_str();
}
const char* xorder_layout_path(const xorder_layout* layout) {
  return layout == nullptr ? "" : layout->path.c_str();
}

void xorder_layout_free(xorder_layout* layout) { delete layout; }
