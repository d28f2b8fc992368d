// Two buffers in turn: while one of them is filled, the other goes through what follows.
#pragma once

#include <cstddef>

#include "task/pipeline.hpp"

namespace xorder::task {

/// Calls fill(buffer), which says whether there was anything left to fill it with, and then each of `then`
/// with it, until there was nothing. Each of them is called for one buffer at a time, in order. Throws what
/// they throw.
template <typename Buffer, typename Fill, typename... Then>
void in_turn(Buffer (&buffers)[2], const Fill& fill, const Then&... then) {
  std::size_t filled = 0;
  const auto next = [&]() -> std::optional<Buffer*> {
    Buffer& buffer = buffers[filled++ % 2];
    return fill(buffer) ? std::optional(&buffer) : std::nullopt;
  };
  pipeline<Buffer*>(2, next, in_order([&then](Buffer* buffer) { then(*buffer); })...);
}

}  // namespace xorder::task
