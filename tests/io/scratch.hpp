// A directory of a test's own on a real disk, and a tiny file system where the machine permits mounting one.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace xorder::test {

namespace fs = std::filesystem;

/// Removed with everything in it at the end.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const fs::path& parent = fs::temp_directory_path()) {
    std::string name = (parent / "xorder-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  /// Names in the directory, for "nothing is left behind".
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(path_))
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  fs::path path_;
};

/// A tmpfs of a few bytes, or nothing where mounting is not permitted.
class TinyFileSystem {
 public:
  TinyFileSystem(const fs::path& directory, const std::string& options) : directory_(directory) {
    fs::create_directories(directory);
    mounted_ = mount("none", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~TinyFileSystem() {
    if (mounted_) umount2(directory_.c_str(), MNT_DETACH);
  }
  TinyFileSystem(const TinyFileSystem&) = delete;
  TinyFileSystem& operator=(const TinyFileSystem&) = delete;
  bool mounted() const { return mounted_; }
  /// Makes it read-only.
  bool seal() { return mount("none", directory_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }

 private:
  fs::path directory_;
  bool mounted_ = false;
};

inline void write_file(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : 0;
  std::string content(static_cast<std::size_t>(size), '\0');
  in.seekg(0).read(content.data(), size);
  return content;
}

/// What the function's exception of type E says; fails the test if there is none.
template <class E, class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace xorder::test
