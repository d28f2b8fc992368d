// A reordering as text.
#pragma once

#include <string>

#include "xorder/permutation/reordering.hpp"

namespace xorder {

/// "8 bytes, axes 3 4 in the order 1 0, axis 1 by 2 1 and 3": the bytes of an element, the extents and their
/// order, and the map of an axis by its matrix's columns and its complement. Texts of equal reorderings are
/// equal, all others differ. Journals hold them.
std::string text_of(const Reordering& what);

}  // namespace xorder
