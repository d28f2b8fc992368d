#include "plan/tiles/source_files.hpp"

#include <algorithm>

namespace xorder::plan {

using std::uint64_t;

SourceFiles::SourceFiles(std::vector<StridedSource> files) : files_(std::move(files)) {
  shortest_ = files_.front().bytes();
  uint64_t end = 0;
  for (const StridedSource& file : files_) {
    ends_.push_back(end += file.bytes());
    shortest_ = std::min(shortest_, file.bytes());
    all_trivial_ = all_trivial_ && file.trivial();
  }
}

std::shared_ptr<const SourceFiles> SourceFiles::reading_through(uint64_t gap) const {
  auto other = std::make_shared<SourceFiles>(*this);
  for (StridedSource& file : other->files_) file = file.reading_through(gap);
  return other;
}

std::size_t SourceFiles::file_at(uint64_t place) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends_, place) - ends_.begin());
}

// That a run of this length can touch.
uint64_t SourceFiles::most_files(uint64_t bytes) const {
  return bytes == 0 ? 0 : std::min<uint64_t>(files_.size(), (bytes + shortest_ - 2) / shortest_ + 1);
}

uint64_t SourceFiles::most_spans(uint64_t bytes) const {
  if (all_trivial_) return most_files(bytes);
  uint64_t most = 0;
  for (const StridedSource& file : files_)
    most = std::max(most, file.most_spans(std::min(bytes, file.bytes())));
  return most * most_files(bytes);
}

uint64_t SourceFiles::most_bytes_read(uint64_t bytes) const {
  if (all_trivial_) return bytes;
  uint64_t most = 0;
  for (const StridedSource& file : files_)
    most = std::max(most, file.most_bytes_read(std::min(bytes, file.bytes())));
  return most * most_files(bytes);
}

// Files are usually alike.
double SourceFiles::spans(double bytes) const {
  const double each = static_cast<double>(ends_.back()) / static_cast<double>(files_.size());
  return files_.front().spans(std::min(bytes, each)) * std::max(1.0, bytes / each);
}

double SourceFiles::bytes_read(double bytes) const {
  const double each = static_cast<double>(ends_.back()) / static_cast<double>(files_.size());
  return files_.front().bytes_read(std::min(bytes, each)) * std::max(1.0, bytes / each);
}

uint64_t SourceFiles::bytes_read() const {
  uint64_t sum = 0;
  for (const StridedSource& file : files_) sum += file.bytes_read();
  return sum;
}

}  // namespace xorder::plan
