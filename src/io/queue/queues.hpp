// What the implementations of Queue are made of.
#pragma once

#include <memory>

#include "io/queue/queue.hpp"

namespace xorder::io {

/// Throws IoError where io_uring is not available.
std::unique_ptr<Queue> make_uring_queue(unsigned depth);

// The other two are a PoolQueue with one of these functions.

/// Carries out a transfer with preadv or pwritev.
Completion perform_by_system_calls(const Transfer& transfer);
/// Carries out a write to a file of Access::mapped by copying to a mapped window, everything else like the
/// other.
Completion perform_by_mapping(const Transfer& transfer);

}  // namespace xorder::io
