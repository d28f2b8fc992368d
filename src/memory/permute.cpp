#include "xorder/memory/permute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "memory/bmmc.hpp"
#include "memory/box.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "rounding.hpp"
#include "task/stretches.hpp"

namespace xorder::memory {
namespace {

// Below this size, starting threads costs more than they save.
constexpr std::size_t least_parallel_bytes = std::size_t{2} << 20;

// Whether to write past the cache. If source and target together exceed a processor's own caches, fetching
// target lines before writing them costs more than bypassing the cache. (Bit reversal of 2 MiB: 15 GB/s
// instead of 4.) The minimum is for processors with a small second level, where other levels keep more.
bool streamed(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{1} << 20;
  return bytes > std::max(least, cache_sizes().second / 2);
}

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

bool is_map(const Reordering& what) {
  const int last = static_cast<int>(what.extents.size()) - 1;
  return what.mapped == last && what.order.back() == last;
}

std::unique_ptr<const Engine> make_engine(const Reordering& what) {
  const std::size_t bytes = what.bytes();
  if (!what.mapped && std::ranges::is_sorted(what.order))
    return std::make_unique<Copy>(bytes, streamed(bytes));
  return is_map(what) ? make_bmmc_engine(what, streamed(bytes)) : make_box_engine(what, streamed(bytes));
}

// The same reordering as a map of the flat index, if it is one.
Reordering flattened(const Reordering& what) {
  if (is_map(what)) return what;
  const auto map = flat_map(what);
  return map ? mapping_of_all({{what.elements()}, what.element_bytes, Order::c}, *map) : what;
}

// Performs all tasks of an engine. For small arrays every extra step counts.
template <class Perform>
void perform(const Engine& engine, std::size_t bytes, unsigned threads, const Perform& some) {
  const auto stretch = [&](std::uint64_t first, std::uint64_t last) {
    some(first, last);
    if (streamed(bytes)) finish_streams();
  };
  const std::uint64_t tasks = engine.tasks();
  if (tasks != 0 && (bytes < least_parallel_bytes || threads == 1)) {
    stretch(0, tasks);
  } else {
    task::for_stretches(tasks, threads, stretch);
  }
}

}  // namespace

// The engine that works in place, made when it is first needed.
struct InMemoryPlan::InPlace {
  const Engine* engine(const Reordering& what) {
    std::call_once(made, [&] {
      const Reordering flat = flattened(what);
      if (is_map(flat)) exchange = make_exchange_engine(flat);
    });
    return exchange.get();
  }
  std::once_flag made;
  std::unique_ptr<const Engine> exchange;
};

InMemoryPlan::InMemoryPlan(const Reordering& what)
    : what_(canonical(what)), engine_(make_engine(what_)), in_place_(std::make_unique<InPlace>()) {}
InMemoryPlan::InMemoryPlan(InMemoryPlan&&) noexcept = default;
InMemoryPlan& InMemoryPlan::operator=(InMemoryPlan&&) noexcept = default;
InMemoryPlan::~InMemoryPlan() = default;

void InMemoryPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  perform(*engine_, what_.bytes(), threads,
          [&](std::uint64_t first, std::uint64_t last) { engine_->perform(first, last, source, target); });
}

void InMemoryPlan::execute_in_place(std::byte* array, unsigned threads) const {
  const std::size_t bytes = what_.bytes();
  if (!what_.mapped && std::ranges::is_sorted(what_.order)) return;
  const Engine* const exchange = in_place_->engine(what_);
  if (exchange) {
    perform(*exchange, bytes, threads,
            [&](std::uint64_t first, std::uint64_t last) { exchange->exchange(first, last, array); });
    return;
  }
  const Scratch other(bytes);
  execute(array, other.data(), threads);
  const Copy back(bytes, streamed(bytes));
  perform(back, bytes, threads,
          [&](std::uint64_t first, std::uint64_t last) { back.perform(first, last, other.data(), array); });
}

std::string InMemoryPlan::describe() const { return engine_->describe(); }

void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  InMemoryPlan(what).execute(source, target, threads);
}
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads) {
  InMemoryPlan(what).execute_in_place(array, threads);
}

}  // namespace xorder::memory
