// Headers of ENVI rasters for outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"

namespace xorder::io {

struct EnviHeader {
  std::string text;
  std::string note;  ///< why there is none, if `text` is empty
};

/// The header of a raw file with what was made of the ENVI raster `input`. Axis i of `extents`, slowest
/// first, is axis kept_axes[i] of the input, or was mapped if that is -1. Of the two axes besides `bands` the
/// slower one becomes `lines`. Fields of the input's header stay if they are still true: what says where the
/// raster lies only if lines and samples are all there and as before, and lists of bands only if bands are.
/// Throws IoError, and InputError if the input's header is no longer one.
EnviHeader envi_header(const DType& dtype, const std::vector<std::uint64_t>& extents,
                       std::vector<int> kept_axes, const ArrayFile& input);

}  // namespace xorder::io
