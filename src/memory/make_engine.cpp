// The choice of an engine, from the top down. docs/in-memory.md has all of them on one page.
#include "memory/make_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "memory/bmmc/bmmc.hpp"
#include "memory/box/box.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/for_tasks.hpp"
#include "memory/micro.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// Whether to write past the cache.
bool streamed(std::size_t bytes) { return bytes > cache_sizes().written_through; }

class Copy : public Engine {
 public:
  Copy(std::size_t bytes, bool past_cache) : bytes_(bytes), copy_(copy_function(past_cache)) {}
  std::uint64_t tasks() const override { return ceil_div(bytes_, task_bytes); }
  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::size_t begin = first * task_bytes;
    copy_(target + begin, source + begin, std::min(bytes_, last * task_bytes) - begin);
  }
  std::string describe() const override { return fmt::format("copy of {} bytes", bytes_); }

 private:
  std::size_t bytes_;
  CopyFunction copy_;
};

bool is_map(const Reordering& what) {
  const int last = static_cast<int>(what.extents.size()) - 1;
  return what.mapped == last && what.order.back() == last;
}

}  // namespace

std::unique_ptr<const Engine> make_copy(std::size_t bytes) {
  return std::make_unique<Copy>(bytes, streamed(bytes));
}

bool stays(const Reordering& what) { return !what.mapped && std::ranges::is_sorted(what.order); }

std::unique_ptr<const Engine> make_engine(const Reordering& what) {
  const std::size_t bytes = what.bytes();
  if (stays(what)) return make_copy(bytes);
  if (!is_map(what)) return make_box_engine(what, streamed(bytes));
  if (auto engine = make_short_map_engine(what)) return engine;
  return make_bmmc_engine(what, streamed(bytes));
}

std::unique_ptr<const Engine> make_engine(const StridedCopy& copy) {
  if (copy.bytes == 0 || copy.axes.element_bytes == copy.bytes) return make_copy(copy.bytes);
  return make_box_engine(copy.axes, copy.bytes, streamed(copy.bytes));
}

void perform(const Engine& engine, std::size_t bytes, unsigned threads, const std::byte* source,
             std::byte* target) {
  for_tasks(engine.tasks(), bytes, threads, [&](std::uint64_t first, std::uint64_t last) {
    engine.perform(first, last, source, target);
    if (streamed(bytes)) finish_streams();
  });
}

}  // namespace xorder::memory
