// A reordering of a part of an array, or of a copy of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "memory/engine.hpp"
#include "memory/make_engine.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

struct Part {
  explicit Part(Reordering reordering)
      : what(canonical(std::move(reordering))), bytes(what.bytes()), engine(make_engine(what)) {}

  void permute(const std::byte* source, std::byte* target, unsigned threads) const {
    perform(*engine, bytes, threads, source, target);
  }
  /// Even if there is no memory for tiles: once another part has been permuted, there is no way back.
  void permute_anyway(const std::byte* source, std::byte* target, unsigned threads) const {
    try {
      permute(source, target, threads);
    } catch (const std::bad_alloc&) {
      const std::uint64_t w = what.element_bytes, count = what.elements();
      for (std::uint64_t x = 0; x < count; ++x)
        std::memcpy(target + what.target_index(x) * w, source + x * w, w);
    }
  }

  Reordering what;
  std::uint64_t bytes;
  std::unique_ptr<const Engine> engine;
};

}  // namespace xorder::memory
