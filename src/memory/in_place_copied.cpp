#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "memory/for_tasks.hpp"
#include "memory/in_place.hpp"
#include "memory/make_engine.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// Permutes into a second array, and copies that back.
class WholeCopied : public InPlaceEngine {
 public:
  WholeCopied(const Engine& engine, std::size_t bytes)
      : engine_(engine), back_(make_copy(bytes)), bytes_(bytes) {}
  WorkspaceSize needs() const override { return {bytes_, 0}; }
  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    memory::perform(engine_, bytes_, threads, array, workspace.shared());
    memory::perform(*back_, bytes_, threads, workspace.shared(), array);
  }
  std::string describe() const override { return engine_.describe() + "; then copied back"; }

 private:
  const Engine& engine_;
  std::unique_ptr<const Engine> back_;
  std::size_t bytes_;
};

// By the definition, which needs no memory.
void permute_slowly(const Reordering& what, const std::byte* source, std::byte* target) {
  const std::uint64_t w = what.element_bytes, count = what.elements();
  for (std::uint64_t x = 0; x < count; ++x) std::memcpy(target + what.target_index(x) * w, source + x * w, w);
}

// Copies some parts of the array to a buffer, which stays in the cache, and permutes them from there.
class PartsCopied : public InPlaceEngine {
 public:
  PartsCopied(const Reordering& what, std::uint64_t at_once)
      : parts_(what.extents.front()), part_bytes_(what.bytes() / parts_), some_(what, at_once) {
    if (parts_ % at_once != 0) rest_.emplace(what, parts_ % at_once);
  }

  WorkspaceSize needs() const override { return {0, some_.count * part_bytes_}; }

  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    for_tasks(ceil_div(parts_, some_.count), parts_ * part_bytes_, threads,
              [&](std::uint64_t task, std::uint64_t last) {
                const Workspace::Buffer buffer(workspace);
                for (; task < last; ++task) {
                  const bool whole = (task + 1) * some_.count <= parts_;
                  permute(whole ? some_ : *rest_, array + task * some_.count * part_bytes_, buffer.data());
                }
              });
  }

  std::string describe() const override {
    return fmt::format("in place: {} parts of {} bytes are copied, {} at a time; {}", parts_, part_bytes_,
                       some_.count, some_.engine->describe());
  }

 private:
  struct Parts {
    Parts(Reordering all, std::uint64_t some) : count(some) {
      all.extents.front() = some;
      what = canonical(std::move(all));
      engine = make_engine(what);
    }
    std::uint64_t count;
    Reordering what;
    std::unique_ptr<const Engine> engine;
  };

  void permute(const Parts& parts, std::byte* place, std::byte* buffer) const {
    std::memcpy(buffer, place, parts.count * part_bytes_);
    try {
      memory::perform(*parts.engine, parts.count * part_bytes_, 1, buffer, place);
    } catch (const std::bad_alloc&) {  // for its tiles; the array must not be left unfinished
      permute_slowly(parts.what, buffer, place);
    }
  }

  std::uint64_t parts_, part_bytes_;
  Parts some_;
  std::optional<Parts> rest_;  // fewer, at the end
};

}  // namespace

std::unique_ptr<InPlaceEngine> make_whole_copied(const Engine& engine, std::size_t bytes) {
  return std::make_unique<WholeCopied>(engine, bytes);
}

std::unique_ptr<InPlaceEngine> make_parts_copied(const Reordering& what, std::uint64_t longest_part) {
  if (what.order.front() != 0 || what.mapped == 0 || what.extents.size() == 1) return nullptr;
  const std::uint64_t part = what.bytes() / what.extents.front();
  if (part > longest_part) return nullptr;
  // The source and the target in the second-level cache. (8 and 128 KiB were slower, mostly by a tenth.)
  constexpr std::uint64_t together = 32 * 1024;
  return std::make_unique<PartsCopied>(what,
                                       std::clamp<std::uint64_t>(together / part, 1, what.extents.front()));
}

}  // namespace xorder::memory
