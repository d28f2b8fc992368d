#include "io/text_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr std::uint64_t largest_text = 1024 * 1024;

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const File file = File::open_input(path, Access::buffered);
  if (file.size() > largest_text) {
    throw InputError(
        fmt::format("{}: has {} bytes; at most {} are allowed", file.name(), file.size(), largest_text));
  }
  std::string text(file.size(), '\0');
  file.read_exactly(text.data(), text.size(), 0);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors begin every file with it
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

}  // namespace xorder::io
