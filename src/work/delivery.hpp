// The frame around every run from files to a file: opens the inputs, reserves the output, and lets it appear
// only when everything is right.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "io/output.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

/// An array of this type and shape, in the format that the path's name or else the input's says.
Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents);

/// Checks that need no new file, for failing early: of the destination against all inputs, of the scratch
/// directory.
void check_delivery(const Destination& to, std::span<const io::ArrayFile> inputs, const Options& options);

class Delivery {
 public:
  /// Opens the inputs, makes the output and writes its header. `memory` is what the run may use. Throws
  /// InputError if an input cannot be read or the output not be made, IoError if an input is no more what it
  /// was when it was looked at.
  Delivery(const Destination& to, std::span<const io::ArrayFile> inputs, io::Access source, io::Access target,
           const Options& options, std::uint64_t memory);

  io::File& source(std::size_t i = 0) { return sources_[i]; }
  io::File& target() { return output_.file(); }
  /// Where the output's data begins.
  std::uint64_t target_offset() const { return header_bytes_; }
  /// A file for what lies between two passes, in the scratch directory.
  io::File scratch(std::uint64_t bytes) const;

  /// Unless it was asked to stop or an input has changed: syncs the output and gives it its name.
  void commit(const std::stop_token& stop);

 private:
  std::vector<io::FileStamp> stamps_;
  std::vector<io::File> sources_;
  std::filesystem::path scratch_directory_;
  io::Access access_;
  std::size_t write_window_;
  std::uint64_t header_bytes_;
  io::Output output_;
};

}  // namespace xorder::work
