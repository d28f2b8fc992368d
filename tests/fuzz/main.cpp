// What every fuzz target shares: its seeds go to a folder that libFuzzer begins with, and errors are one line of text.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz.hpp"
#include "xorder/error.hpp"

namespace fs = std::filesystem;

namespace {
struct Folder {
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
} folder;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  std::string name = (fs::temp_directory_path() / "xorder-fuzz-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  folder.path = name;
  int number = 0;
  for (const std::string& seed : xorder::fuzz::seeds())
    std::ofstream(fs::path(name) / std::to_string(number++), std::ios::binary) << seed;
  static std::vector<char*> all(*words, *words + *count);
  all.push_back(folder.path.data());
  *count = static_cast<int>(all.size());
  all.push_back(nullptr);
  *words = all.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t bytes) {
  try {
    xorder::fuzz::parse({reinterpret_cast<const char*>(data), bytes});
  } catch (const xorder::InputError& error) {
    const std::string_view line = error.what();
    xorder::fuzz::must(!line.empty() &&
                       std::ranges::none_of(line, [](unsigned char c) { return c < ' ' || c == 127; }));
  }
  return 0;
}
