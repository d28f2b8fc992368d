// What a band's file has to be.
#pragma once

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::band {

/// Throws InputError unless the file has the band's shape, in C order.
void check_input(const io::ArrayFile& input, const Band& band);

}  // namespace xorder::band
