// Whether a run goes on with an earlier one, and whether it may.
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::work {

struct Frame;

/// Sets the journal of a resumable run: that of an earlier one, if its output is still there, or a new one.
/// Such runs are for files that do not fit in memory, so automatic access becomes direct. Throws InputError
/// as read_journal() does.
void find_journal(Frame& frame);

/// Says in the journal, if there is one, what is to be made. Throws InputError if an earlier run was for
/// something else, or an input has changed since.
void settle_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents);

}  // namespace xorder::work
