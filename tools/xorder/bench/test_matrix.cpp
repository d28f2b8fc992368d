#include "bench/test_matrix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <string_view>
#include <utility>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/memory.hpp"
#include "io/output.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

namespace fs = std::filesystem;
using std::uint64_t;

namespace {

// Random data, which a disk cannot compress.
void make_random_file(const fs::path& path, uint64_t bytes, const std::stop_token& stop) {
  io::Output output(path, bytes, false, io::Access::direct, io::system_disk(), nullptr);
  const io::BlockMemory block(std::size_t{4} << 20);
  std::mt19937_64 random(1);
  for (uint64_t at = 0; at < bytes; at += block.size()) {
    if (stop.stop_requested()) throw Cancelled();
    const uint64_t part = std::min<uint64_t>(block.size(), bytes - at);
    for (uint64_t i = 0; i + 8 <= part; i += 8) {
      const uint64_t word = random();
      std::memcpy(block.data() + i, &word, 8);
    }
    output.file().write_exactly(block.data(), part, at);
  }
  output.commit();
}

void forget_pages(const fs::path& path) {
  const io::File file = io::File::open_input(path, io::Access::buffered);
  posix_fadvise(file.plain_descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

constexpr std::string_view own_prefix = ".xorder-bench-";
constexpr const char *in_name = "in.raw", *out_name = "out.raw";

// Whether a benchmark that was killed has left this. Others hold a lock, unless they have only begun.
bool left_over(const fs::path& directory) {
  constexpr std::time_t begun = 60;
  struct stat status;
  const io::Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fstat(opened.get(), &status) == 0 && status.st_uid == geteuid() &&
         std::time(nullptr) - status.st_mtime > begun && flock(opened.get(), LOCK_EX | LOCK_NB) == 0;
}

// Only what a benchmark makes; a directory in which anything else lies stays.
void remove_left_over(const fs::path& in) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(in, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(own_prefix) || name.size() != own_prefix.size() + 6 || !left_over(entry.path()))
      continue;
    for (const auto& file : fs::directory_iterator(entry.path(), ignored)) {
      const std::string made = file.path().filename().string();
      for (const char* const own : {in_name, out_name}) {
        if (made == own || io::is_temporary_name(made, own)) fs::remove(file.path(), ignored);
      }
    }
    fs::remove(entry.path(), ignored);
  }
}

}  // namespace

OwnDirectory::OwnDirectory(const fs::path& in) {
  remove_left_over(in);
  std::string name = (in / own_prefix).string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw InputError(fmt::format("{}: cannot create a directory there: {}", in.string(), reason(errno)));
  }
  path_ = name;
  in_use_ = io::Descriptor(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  flock(in_use_.get(), LOCK_SH);
}

OwnDirectory::~OwnDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

TestFile::TestFile(const fs::path& directory, uint64_t bytes, const std::stop_token& stop)
    : directory_(directory), in_(directory_ / in_name), out_(directory_ / out_name) {
  make_random_file(in_, bytes, stop);
}

double TestFile::seconds(const std::function<void()>& run) const {
  std::error_code ignored;
  fs::remove(out_, ignored);
  forget_pages(in_);
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TestMatrix::TestMatrix(const fs::path& directory, uint64_t bytes, std::stop_token stop)
    : bytes_(std::bit_floor(bytes)), stop_(std::move(stop)), file_(directory, bytes_, stop_) {
  array_ =
      io::open_array(in(), io::RawLayout{.dtype = io::parse_dtype("f8"), .extents = {{rows(), columns()}}});
  options_.memory = std::max(bytes_ / 8, work::minimum_memory);
  options_.overwrite = true;
}

int TestMatrix::bits() const { return std::bit_width(bytes_ / 8) - 1; }

}  // namespace xorder::cli
