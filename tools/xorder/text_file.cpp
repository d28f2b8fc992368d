#include "text_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "standard_streams.hpp"
#include "work/profiles.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::cli {
namespace {

constexpr std::uint64_t largest_text = 1024 * 1024;

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const io::File file = io::File::open_input(path, io::Access::buffered);
  if (file.size() > largest_text) {
    throw InputError(
        fmt::format("{}: has {} bytes; at most {} are expected", file.name(), file.size(), largest_text));
  }
  std::string text(file.size(), '\0');
  file.read_exactly(text.data(), text.size(), 0);
  return text;
}

gf2::AffineMap read_matrix(const std::filesystem::path& path) {
  return parse_matrix(read_text(path), path.string());
}

plan::Device read_device(const std::string& name) {
  if (name == "ssd") return plan::Device::ssd();
  if (name == "hdd") return plan::Device::hdd();
  std::string text;
  try {
    text = read_text(name);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}; --device is ssd, hdd or the file of a profile", e.what()));
  }
  return plan::Device::parse(text, name);
}

plan::Device measured_device(const std::filesystem::path& file) {
  try {
    const auto directory = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (auto device = work::load_profile(directory)) return *device;
  } catch (const InputError& e) {
    tell("xorder: note: {}; using ssd\n", e.what());
  }
  return plan::Device::ssd();
}

namespace {

io::Output output_for(const std::filesystem::path& path, std::uint64_t bytes, bool overwrite,
                      const std::filesystem::path& made_from) {
  if (path == "-") throw InputError("- (standard output) is not supported as a file; name one");
  std::optional<io::File> input;
  if (!made_from.empty()) input = io::File::open_input(made_from, io::Access::buffered);
  return io::Output(path, bytes, overwrite, io::Access::buffered, io::system_disk(),
                    input ? &*input : nullptr);
}

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, bool overwrite, const std::filesystem::path& made_from)
    : output_(output_for(path, 0, overwrite, made_from)) {}

void TextFile::write(const std::string& text) {
  output_.file().write_exactly(text.data(), text.size(), 0);
  output_.commit();
}

void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::filesystem::path& made_from) {
  io::Output output = output_for(path, text.size(), overwrite, made_from);
  output.file().write_exactly(text.data(), text.size(), 0);
  output.commit();
}

}  // namespace xorder::cli
