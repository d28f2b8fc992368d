#include "io/format/npy.hpp"

#include "io/format/known_formats.hpp"
#include "io/format/npy_header.hpp"

namespace xorder::io {

bool is_npy(const File& file) { return first_bytes(file, npy_magic.size()) == npy_magic; }

ArrayDescription read_npy_header(const File& file) {
  const std::uint64_t offset =
      npy_data_offset(first_bytes(file, npy_preamble_bytes), file.size(), file.name());
  return parse_npy_header(first_bytes(file, offset), file.size(), file.name());
}

}  // namespace xorder::io
