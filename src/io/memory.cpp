#include "io/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>

#include "io/patience.hpp"
#include "rounding.hpp"

namespace xorder::io {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return round_up(bytes, page);
}

}  // namespace

BlockMemory::BlockMemory(std::size_t bytes, Resident resident) {
  if (bytes == 0) return;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t wanted = whole_pages(bytes);
  const std::size_t slack = wanted >= huge_page ? huge_page : 0;
  void* mapping = mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(mapping);
  bytes_ = bytes;
  if (slack == 0) return;
  const std::size_t lead = (huge_page - reinterpret_cast<std::uintptr_t>(data_) % huge_page) % huge_page;
  if (lead > 0) munmap(data_, lead);
  data_ += lead;
  if (slack > lead) munmap(data_ + wanted, slack - lead);
  // Only a hint. Reads into small pages took a virtual disk four to five times as long (bench/file_bench.md).
  madvise(data_, wanted, MADV_HUGEPAGE);
  // Each thread that touches a huge page at the same time as others takes one, and all but one give theirs
  // back after they cleared it. With 32 threads a limit of 16 MiB was exceeded by up to 11 MiB for a moment.
  // Of more memory than most_at_once, the excess is small by comparison.
  if (resident == Resident::at_once && wanted <= most_at_once) use(0, bytes);
}

std::size_t BlockMemory::use(std::size_t begin, std::size_t end) {
  if (bytes_ < huge_page) return bytes_;
  begin = begin / huge_page * huge_page;
  end = std::min(round_up(end, huge_page), whole_pages(bytes_));
  for (Patience patience;
       madvise(data_ + begin, end - begin, MADV_POPULATE_WRITE) != 0 && patience.with(errno);) {
  }
  return end;
}

BlockMemory::~BlockMemory() {
  if (data_) munmap(data_, whole_pages(bytes_));
}

BlockMemory::BlockMemory(BlockMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

BlockMemory& BlockMemory::operator=(BlockMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace xorder::io
