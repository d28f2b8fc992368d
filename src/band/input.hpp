// Checks the file of a band.
#pragma once

#include <span>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::band {

/// Throws InputError unless the file has the shape of these bands (permutation/band.hpp) in C order. The
/// shape of a single band may have an axis of extent 1 before it.
void check_input(const io::ArrayFile& input, std::span<const Band> bands);

}  // namespace xorder::band
