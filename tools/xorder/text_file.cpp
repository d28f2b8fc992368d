#include "text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/file.hpp"
#include "standard_streams.hpp"
#include "work/profiles.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::cli {
namespace {

constexpr std::uint64_t largest_text = 1024 * 1024;

// A file that goes away again unless it is renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside)
      : name_(
            (beside.parent_path() / fmt::format(".{}.xorder-XXXXXX", beside.filename().string())).string()) {
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      throw InputError(fmt::format("{}: cannot be written: {}", beside.string(), std::strerror(errno)));
  }
  ~TemporaryFile() {
    ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) {
    for (std::uint64_t offset = 0; !text.empty();) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw IoError(name_, "write", errno, offset);
      text.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }
  void rename_to(const std::filesystem::path& path) {
    // mkostemp makes it private; what a user asked for by name is as public as any other file of theirs.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, 0666 & ~mask) != 0) throw IoError(name_, "fchmod", errno);
    if (::fsync(descriptor_) != 0) throw IoError(name_, "fsync", errno);
    if (::rename(name_.c_str(), path.c_str()) != 0) throw IoError(path.string(), "rename", errno);
    name_.clear();
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

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

void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite) {
  if (path == "-") throw InputError("- (standard output) is not supported as a file; name one");
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status)) {
      throw InputError(fmt::format("{}: is not a regular file", path.string()));
    }
    if (!overwrite) throw InputError(fmt::format("{}: exists; --force overwrites it", path.string()));
  }
  TemporaryFile file(path);
  file.write(text);
  file.rename_to(path);
}

}  // namespace xorder::cli
