// Transposes elements whose sizes are no powers of two: they are widened in registers.
#pragma once

#include <cstddef>

#include "kernel/vectors/transpose.hpp"

namespace xorder::kernel {

/// For elements of 3, 5, 6 and 7 bytes. Null for others.
TransposeFunction packed_transpose_function(std::size_t element_bytes);

}  // namespace xorder::kernel
