// Reordering in memory, as `xorder bench memory` and programs in bench/ measure it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/memory.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {

struct MemoryFamily {
  std::string key;   ///< a word
  std::string name;  ///< for people
  Reordering what;
};

/// For arrays of at most `bytes` bytes, but nearly as many, with elements of `width` bytes.
std::vector<MemoryFamily> memory_families(std::uint64_t bytes, std::uint64_t width);

/// Two arrays in huge pages, and the times to copy and to reorder one into the other.
class TestArrays {
 public:
  struct Options {
    std::uint64_t offset = 0;     ///< bytes from the beginning of a page to the arrays
    bool processor_time = false;  ///< of all threads: steadier on a machine that others use
    bool in_place = false;        ///< reorders the source
  };
  /// Throws InputError if there is not as much memory.
  TestArrays(std::uint64_t bytes, const Options& options);

  std::byte* source() const { return source_.data() + options_.offset; }
  std::byte* target() const { return target_.data() + options_.offset; }

  /// For one call of what moves so many bytes; it is called often enough to be timed.
  double seconds(std::uint64_t bytes, const std::function<void()>& work) const;
  /// Each thread copies its share with one call.
  double copy_seconds(std::uint64_t bytes, bool streaming, unsigned threads) const;
  /// `first`: bytes from the source's beginning to the element with all indices 0.
  double reorder_seconds(std::uint64_t bytes, const memory::InMemoryPlan& plan, unsigned threads,
                         std::uint64_t first = 0) const;

 private:
  Options options_;
  io::BlockMemory source_, target_;
};

}  // namespace xorder::cli
