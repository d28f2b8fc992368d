// The options for files that hold matrices in band storage.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::cli {

struct BandStorageOptions {
  std::vector<std::string> bandwidths;
  std::string matrices, order = "columns";
  bool cyclic = false;

  void add_to(CLI::App& command);
  bool given() const { return !bandwidths.empty(); }
  /// The bands in this file. Throws InputError if they do not follow from the options and the file's shape.
  std::vector<Band> bands(const io::ArrayFile& file) const;
};

}  // namespace xorder::cli
