// A file of random data and a matrix in one, for benchmarks that read and write a disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

#include "io/descriptor.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

/// A new directory, which the destructor removes with its content. The constructor removes those that killed
/// programs have left in the same place, if nothing but files of benchmarks lies in them.
class OwnDirectory {
 public:
  /// Throws InputError if it cannot be made.
  explicit OwnDirectory(const std::filesystem::path& in);
  ~OwnDirectory();
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  io::Descriptor in_use_;  // locked, which others look at
};

/// A file of random data in a new directory.
class TestFile {
 public:
  /// Throws Cancelled, IoError, and InputError if there is no room.
  TestFile(const std::filesystem::path& directory, std::uint64_t bytes, const std::stop_token& stop);

  const std::filesystem::path& in() const { return in_; }
  const std::filesystem::path& out() const { return out_; }

  /// Seconds of a run from in(), which is not in memory then, to out(), which does not exist then.
  double seconds(const std::function<void()>& run) const;

 private:
  OwnDirectory directory_;
  std::filesystem::path in_, out_;
};

/// A 2^a × 2^b matrix of random doubles, a = b or b − 1.
class TestMatrix {
 public:
  /// Makes a file of at most `bytes`. Throws as TestFile does.
  TestMatrix(const std::filesystem::path& directory, std::uint64_t bytes, std::stop_token stop);

  const std::filesystem::path& in() const { return file_.in(); }
  const std::filesystem::path& out() const { return file_.out(); }
  const io::ArrayFile& array() const { return array_; }
  /// For runs to out(): an eighth of the matrix as memory, or the least.
  const work::Options& options() const { return options_; }
  const std::stop_token& stop() const { return stop_; }

  std::uint64_t bytes() const { return bytes_; }
  int bits() const;
  std::uint64_t rows() const { return std::uint64_t{1} << bits() / 2; }
  std::uint64_t columns() const { return bytes_ / 8 / rows(); }

  /// As TestFile::seconds().
  double seconds(const std::function<void()>& run) const { return file_.seconds(run); }

 private:
  std::uint64_t bytes_;
  std::stop_token stop_;
  TestFile file_;
  io::ArrayFile array_;
  work::Options options_;
};

}  // namespace xorder::cli
