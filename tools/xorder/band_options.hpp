// The options for files that hold matrices in band storage.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::cli {

struct BandStorageOptions {
  std::vector<std::string> bandwidths;
  std::string matrices, order = "columns";
  bool cyclic = false;

  /// Returns --banded; null in a team, where bands are not possible.
  CLI::Option* add_to(CLI::App& command);
  bool given() const { return !bandwidths.empty(); }
  /// The bands in these files: in one, or one in each. Throws InputError if they do not follow from the
  /// options and the files' shapes.
  std::vector<Band> bands(std::span<const io::ArrayFile> files) const;
};

}  // namespace xorder::cli
