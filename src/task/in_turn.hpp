// Double buffering: while one buffer is filled, the other is processed.
#pragma once

#include <cstddef>

#include "task/pipeline.hpp"

namespace xorder::task {

/// Calls fill(buffer) and then each of `then` with that buffer, until fill() returns false because nothing is
/// left. Each function is called for one buffer at a time, in order. Throws what they throw.
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
