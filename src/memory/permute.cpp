#include "xorder/memory/permute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "memory/bmmc.hpp"
#include "memory/box.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/for_tasks.hpp"
#include "memory/in_place.hpp"
#include "memory/micro.hpp"
#include "memory/workspace.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// Whether to write past the cache.
bool streamed(std::size_t bytes) { return bytes > cache_sizes().written_through; }

class Copy : public Engine {
 public:
  Copy(std::size_t bytes, bool past_cache) : bytes_(bytes), copy_(copy_function(past_cache)) {}
  std::uint64_t tasks() const override { return ceil_div(bytes_, piece); }
  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::size_t begin = first * piece;
    copy_(target + begin, source + begin, std::min(bytes_, last * piece) - begin);
  }
  std::string describe() const override { return fmt::format("copy of {} bytes", bytes_); }

 private:
  static constexpr std::size_t piece = 256 * 1024;
  std::size_t bytes_;
  CopyFunction copy_;
};

bool stays(const Reordering& what) { return !what.mapped && std::ranges::is_sorted(what.order); }

bool is_map(const Reordering& what) {
  const int last = static_cast<int>(what.extents.size()) - 1;
  return what.mapped == last && what.order.back() == last;
}

std::unique_ptr<const Engine> make_engine(const Reordering& what) {
  const std::size_t bytes = what.bytes();
  if (stays(what)) return std::make_unique<Copy>(bytes, streamed(bytes));
  if (!is_map(what)) return make_box_engine(what, streamed(bytes));
  if (auto engine = make_short_map_engine(what)) return engine;
  return make_bmmc_engine(what, streamed(bytes));
}

void perform(const Engine& engine, std::size_t bytes, unsigned threads, const std::byte* source,
             std::byte* target) {
  for_tasks(engine.tasks(), bytes, threads, [&](std::uint64_t first, std::uint64_t last) {
    engine.perform(first, last, source, target);
    if (streamed(bytes)) finish_streams();
  });
}

// Permutes into a second array, and copies that back.
class ThroughCopy : public InPlaceEngine {
 public:
  ThroughCopy(const Engine& engine, std::size_t bytes)
      : engine_(engine), back_(bytes, streamed(bytes)), bytes_(bytes) {}
  WorkspaceSize needs() const override { return {bytes_, 0}; }
  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    memory::perform(engine_, bytes_, threads, array, workspace.shared());
    memory::perform(back_, bytes_, threads, workspace.shared(), array);
  }
  std::string describe() const override { return engine_.describe() + "; then copied back"; }

 private:
  const Engine& engine_;
  Copy back_;
  std::size_t bytes_;
};

}  // namespace

// The engine that works in place, made when it is first needed.
struct InMemoryPlan::InPlace {
  const InPlaceEngine& engine(const Reordering& what, const Engine& other) {
    std::call_once(made, [&] {
      found = make_in_place_engine(what);
      if (!found) found = std::make_unique<ThroughCopy>(other, what.bytes());
    });
    return *found;
  }
  std::once_flag made;
  std::unique_ptr<const InPlaceEngine> found;
};

InMemoryPlan::InMemoryPlan(const Reordering& what)
    : what_(canonical(what)), engine_(make_engine(what_)), in_place_(std::make_unique<InPlace>()) {}
InMemoryPlan::InMemoryPlan(InMemoryPlan&&) noexcept = default;
InMemoryPlan& InMemoryPlan::operator=(InMemoryPlan&&) noexcept = default;
InMemoryPlan::~InMemoryPlan() = default;

void InMemoryPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  perform(*engine_, what_.bytes(), threads, source, target);
}

void InMemoryPlan::execute_in_place(std::byte* array, unsigned threads) const {
  if (stays(what_) || what_.bytes() == 0) return;
  const InPlaceEngine& engine = in_place_->engine(what_, *engine_);
  const unsigned most = count_threads(what_.bytes(), threads);
  Workspace workspace(engine.needs(), most);
  engine.perform(array, most, workspace);
}

std::string InMemoryPlan::describe() const { return engine_->describe(); }
std::string InMemoryPlan::describe_in_place() const {
  return stays(what_) || what_.bytes() == 0 ? "nothing moves" : in_place_->engine(what_, *engine_).describe();
}

void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  InMemoryPlan(what).execute(source, target, threads);
}
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads) {
  InMemoryPlan(what).execute_in_place(array, threads);
}

}  // namespace xorder::memory
