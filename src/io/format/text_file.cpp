#include "io/format/text_file.hpp"

#include <fmt/format.h>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "text/utf8.hpp"
#include "xorder/error.hpp"

namespace xorder::io {

std::string read_text(const std::filesystem::path& path, std::uint64_t largest) {
  const File file = File::open_input(path, Access::buffered);
  if (file.size() > largest) {
    throw InputError(
        fmt::format("{}: has {} bytes; at most {} are allowed", file.name(), file.size(), largest));
  }
  std::string text(file.size(), '\0');
  file.read_exactly(text.data(), text.size(), 0);
  return std::string(without_byte_order_mark(text));
}

}  // namespace xorder::io
