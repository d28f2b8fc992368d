#include "xorder/memory/permute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "memory/bmmc.hpp"
#include "memory/box.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/parallel.hpp"

namespace xorder::memory {
namespace {

// Below this, starting threads costs more than they save.
constexpr std::size_t least_parallel_bytes = std::size_t{2} << 20;

// Source and target together are then several times larger than what a processor keeps to itself.
bool streamed(std::size_t bytes) {
  return bytes >= 2 * cache_sizes().second;
}

class Copy : public Engine {
 public:
  Copy(std::size_t bytes, bool past_cache) : bytes_(bytes), copy_(copy_function(past_cache)) {}
  std::uint64_t tasks() const override { return (bytes_ + piece - 1) / piece; }
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

std::unique_ptr<const Engine> make_engine(const Reordering& given) {
  const Reordering what = canonical(given);
  const std::size_t bytes = what.bytes();
  const bool past_cache = streamed(bytes);
  const int last = static_cast<int>(what.extents.size()) - 1;
  if (!what.mapped && std::ranges::is_sorted(what.order)) return std::make_unique<Copy>(bytes, past_cache);
  if (what.mapped == last && what.order.back() == last) return make_bmmc_engine(what, past_cache);
  return make_box_engine(what, past_cache);
}

}  // namespace

InMemoryPlan::InMemoryPlan(const Reordering& what) : bytes_(0), engine_(make_engine(what)) {
  bytes_ = what.bytes();
}
InMemoryPlan::InMemoryPlan(InMemoryPlan&&) noexcept = default;
InMemoryPlan& InMemoryPlan::operator=(InMemoryPlan&&) noexcept = default;
InMemoryPlan::~InMemoryPlan() = default;

void InMemoryPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  if (bytes_ < least_parallel_bytes) threads = 1;
  for_stretches(engine_->tasks(), threads, [&](std::uint64_t first, std::uint64_t last) {
    engine_->perform(first, last, source, target);
    finish_streams();
  });
}

std::string InMemoryPlan::describe() const { return engine_->describe(); }

void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  InMemoryPlan(what).execute(source, target, threads);
}

}  // namespace xorder::memory
