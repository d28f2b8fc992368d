// What a pass reads that is not simply one piece of one file: several files, one after the other, each of any
// layout.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/tiles/strided_source.hpp"

namespace xorder::plan {

/// The bytes of all files' elements are one sequence, of which tiles read runs. See StridedSource.
class SourceFiles {
 public:
  /// At least one file; none is empty.
  explicit SourceFiles(std::vector<StridedSource> files);

  /// Whether this is one file whose elements follow each other.
  bool trivial() const { return files_.size() == 1 && all_trivial_; }
  std::shared_ptr<const SourceFiles> reading_through(std::uint64_t gap) const;

  // As of StridedSource.
  std::uint64_t unit_bytes() const { return files_.front().unit_bytes(); }
  std::uint64_t most_spans(std::uint64_t bytes) const;
  std::uint64_t most_bytes_read(std::uint64_t bytes) const;
  double spans(double bytes) const;
  double bytes_read(double bytes) const;
  std::uint64_t bytes_read() const;

  /// Calls function(number of the file, its source, box) for the boxes of a run.
  template <typename Function>
  void for_each_box(std::uint64_t begin, std::uint64_t bytes, const Function& function) const {
    const std::uint64_t end = begin + bytes;
    for (std::size_t i = file_at(begin); begin < end; ++i) {
      const std::uint64_t to = std::min(end, ends_[i]), first = ends_[i] - files_[i].bytes();
      files_[i].for_each_box(begin - first, to - begin,
                             [&](const StridedSource::Box& box) { function(i, files_[i], box); });
      begin = to;
    }
  }

 private:
  std::size_t file_at(std::uint64_t place) const;
  std::uint64_t most_files(std::uint64_t bytes) const;

  std::vector<StridedSource> files_;
  std::vector<std::uint64_t> ends_;  // of the files, in the sequence
  std::uint64_t shortest_ = 0;
  bool all_trivial_ = true;
};

}  // namespace xorder::plan
