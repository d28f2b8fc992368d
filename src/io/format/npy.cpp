#include "io/format/npy.hpp"

#include <algorithm>

#include "io/format/npy_header.hpp"

namespace xorder::io {
namespace {

std::string head(const File& file, std::uint64_t bytes) {
  std::string text(static_cast<std::size_t>(std::min(bytes, file.size())), '\0');
  if (!text.empty()) file.read_exactly(text.data(), text.size(), 0);
  return text;
}

}  // namespace

bool is_npy(const File& file) { return has_npy_magic(head(file, npy_preamble_bytes)); }

bool is_zip(const File& file) { return head(file, 4) == "PK\x03\x04"; }

ArrayDescription read_npy_header(const File& file) {
  const std::uint64_t offset = npy_data_offset(head(file, npy_preamble_bytes), file.size(), file.name());
  return parse_npy_header(head(file, offset), file.size(), file.name());
}

}  // namespace xorder::io
