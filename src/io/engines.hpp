// The implementations of Queue, for the factory.
#pragma once

#include <memory>

#include "io/queue.hpp"

namespace xorder::io {

/// Throws IoError where io_uring is not available.
std::unique_ptr<Queue> make_uring_queue(unsigned depth);
std::unique_ptr<Queue> make_thread_queue(unsigned depth);
std::unique_ptr<Queue> make_mapped_queue(unsigned depth);

}  // namespace xorder::io
