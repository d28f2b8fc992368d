// The engine for any reordering.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/engine.hpp"
#include "memory/strided.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// `what` must be canonical.
std::unique_ptr<const Engine> make_engine(const Reordering& what);
std::unique_ptr<const Engine> make_engine(const StridedCopy& copy);
std::unique_ptr<const Engine> make_copy(std::size_t bytes);

/// Whether nothing moves.
bool stays(const Reordering& what);

/// Performs all tasks of an engine for arrays of `bytes`, with their stores finished.
void perform(const Engine& engine, std::size_t bytes, unsigned threads, const std::byte* source,
             std::byte* target);

}  // namespace xorder::memory
