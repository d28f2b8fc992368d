#include "io/measure/seeks.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "io/memory.hpp"
#include "xorder/error.hpp"

namespace xorder::io {

bool said_to_spin(const File& file) {
  struct stat status {};
  if (fstat(file.plain_descriptor(), &status) != 0) return false;
  const std::filesystem::path device =
      fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev));
  // A partition has no queue of its own; its disk is the directory above.
  for (const char* const queue : {"queue/rotational", "../queue/rotational"}) {
    std::ifstream flag(device / queue);
    int spins = 0;
    if (flag >> spins) return spins != 0;
  }
  return false;
}

namespace {

double median(std::array<double, 16>& times) {
  const auto middle = times.begin() + times.size() / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace

std::optional<ReadTimes> read_times(const File& file, Disk& disk) try {
  const File direct = file.reopen(Access::direct, disk);
  if (direct.access() != Access::direct) return std::nullopt;
  const std::uint64_t block = std::max<std::uint64_t>(4096, direct.offset_alignment());
  const std::uint64_t blocks = direct.size() / block;
  if (blocks < 1024) return std::nullopt;
  BlockMemory memory(std::max<std::uint64_t>(block, direct.memory_alignment()));
  const auto seconds = [&](std::uint64_t number) -> std::optional<double> {
    Transfer read{.kind = Transfer::Kind::read, .file = &direct, .offset = number * block};
    read.pieces[0] = {memory.data(), block};
    read.piece_count = 1;
    read.required_bytes = block;
    const auto begin = std::chrono::steady_clock::now();
    if (disk.perform(read).error != 0) return std::nullopt;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::mt19937_64 random(1);
  std::array<double, 16> elsewhere{}, next{};
  for (std::size_t i = 0; i < elsewhere.size(); ++i) {
    const std::uint64_t place = random() % (blocks - 1);
    const auto first = seconds(place), second = seconds(place + 1);
    if (!first || !second) return std::nullopt;
    elsewhere[i] = *first;
    next[i] = *second;
  }
  return ReadTimes{median(elsewhere), median(next)};
} catch (const Error&) {  // it cannot be opened again
  return std::nullopt;
}

}  // namespace xorder::io
