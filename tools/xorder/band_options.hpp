// The options that say that a file holds a matrix in band storage.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::cli {

struct BandStorageOptions {
  std::string bandwidths, order = "columns";
  bool cyclic = false;

  void add_to(CLI::App& command);
  bool given() const { return !bandwidths.empty(); }
  /// The band in this file. Throws InputError if the options or its shape do not say one.
  Band band(const io::ArrayFile& file) const;
};

}  // namespace xorder::cli
