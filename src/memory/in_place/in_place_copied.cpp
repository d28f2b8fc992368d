// In place by way of a second place: a second array where nothing else works, and a buffer in the cache for
// small parts. The latter is faster than any exchange, as each byte crosses the memory bus once each way.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/part.hpp"
#include "memory/make_engine.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// If the slowest axis stays where it is, the array consists of parts, one for each of its coordinates, that
// are permuted separately.
std::uint64_t parts_of(const Reordering& what) {
  return what.extents.size() > 1 && what.order.front() == 0 && what.mapped != 0 ? what.extents.front() : 1;
}

Reordering of_parts(Reordering what, std::uint64_t count) {
  if (count != parts_of(what)) what.extents.front() = count;
  return what;
}

// Parts that are permuted at once.
struct Group : Part {
  Group(const Reordering& all, std::uint64_t count) : Part(of_parts(all, count)), parts(count) {}

  std::uint64_t parts;
};

// Permutes each part into a second one, and copies that back.
class ThroughCopy : public InPlaceEngine {
 public:
  explicit ThroughCopy(const Reordering& what)
      : count_(parts_of(what)), part_(what, 1), back_(make_copy(part_.bytes)) {}
  WorkspaceSize needs() const override { return {part_.bytes, 0}; }
  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    part_.permute(array, workspace.shared(), threads);
    for (std::uint64_t i = 0;;) {
      memory::perform(*back_, part_.bytes, threads, workspace.shared(), array);
      if (++i == count_) return;
      array += part_.bytes;
      part_.permute_anyway(array, workspace.shared(), threads);
    }
  }
  std::string describe() const override {
    if (count_ == 1) return part_.engine->describe() + "; then copied back";
    return fmt::format("in place: {} parts of {} bytes are permuted and copied back; {}", count_, part_.bytes,
                       part_.engine->describe());
  }

 private:
  std::uint64_t count_;
  Group part_;
  std::unique_ptr<const Engine> back_;
};

// Copies some parts to a buffer, which stays in the cache, and permutes them from there.
class ThroughBuffer : public InPlaceEngine {
 public:
  ThroughBuffer(const Reordering& what, std::uint64_t at_once)
      : count_(parts_of(what)), group_(what, at_once) {
    if (count_ % at_once != 0) rest_.emplace(what, count_ % at_once);
  }

  WorkspaceSize needs() const override { return {0, group_.bytes}; }

  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    const std::uint64_t array_bytes = group_.bytes / group_.parts * count_;
    for_tasks(ceil_div(count_, group_.parts), array_bytes, threads,
              [&](std::uint64_t task, std::uint64_t last) {
                const Workspace::Buffer buffer(workspace);
                for (; task < last; ++task) {
                  const Group& group = (task + 1) * group_.parts <= count_ ? group_ : *rest_;
                  std::byte* const place = array + task * group_.bytes;
                  std::memcpy(buffer.data(), place, group.bytes);
                  group.permute_anyway(buffer.data(), place, 1);
                }
              });
  }

  std::string describe() const override {
    return fmt::format("in place: {} parts of {} bytes are copied, {} at a time, and permuted; {}", count_,
                       group_.bytes / group_.parts, group_.parts, group_.engine->describe());
  }

 private:
  std::uint64_t count_;
  Group group_;
  std::optional<Group> rest_;  // fewer, at the end
};

}  // namespace

std::unique_ptr<InPlaceEngine> make_through_copy(const Reordering& what) {
  return std::make_unique<ThroughCopy>(what);
}

std::unique_ptr<InPlaceEngine> make_through_buffer(const Reordering& what, std::uint64_t longest_part) {
  const std::uint64_t parts = parts_of(what), bytes = what.bytes() / parts;
  if (parts == 1 || bytes > longest_part) return nullptr;
  // The source and the target in the second-level cache. (8 and 128 KiB were slower, mostly by a tenth.)
  constexpr std::uint64_t together = 32 * 1024;
  return std::make_unique<ThroughBuffer>(what, std::clamp<std::uint64_t>(together / bytes, 1, parts));
}

}  // namespace xorder::memory
