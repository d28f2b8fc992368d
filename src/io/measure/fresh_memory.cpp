#include "io/measure/fresh_memory.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <chrono>
#include <cmath>

#include "io/memory.hpp"

namespace xorder::io {
namespace {

bool on_virtual_machine() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned hypervisor = 1u << 31;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) == 0 || (c & hypervisor) != 0;
#else
  return true;  // unknown
#endif
}

}  // namespace

std::optional<double> FreshMemory::rate() const {
  // Slow by comparison with the memory that was at hand, or that is only cleared.
  constexpr double at_hand = piece_bytes / 2e9;
  constexpr std::size_t enough = 8;
  std::size_t slow = 0;
  double slow_seconds = 0, all_seconds = 0;
  for (const double one : seconds) {
    all_seconds += one;
    if (one < at_hand) continue;
    ++slow;
    slow_seconds += one;
  }
  const auto rate_of = [](std::size_t count, double total) {
    return std::exp2(std::round(std::log2(static_cast<double>(count * piece_bytes) / total)));
  };
  if (slow >= enough) return rate_of(slow, slow_seconds);
  if (virtual_machine || seconds.empty()) return std::nullopt;
  return rate_of(seconds.size(), all_seconds);
}

FreshMemory touch_fresh_memory() {
  using Clock = std::chrono::steady_clock;
  BlockMemory memory(touched_fresh_memory, BlockMemory::Resident::as_used);
  FreshMemory fresh{.seconds = {}, .virtual_machine = on_virtual_machine()};
  for (std::size_t at = 0; at < memory.size(); at += FreshMemory::piece_bytes) {
    const auto begin = Clock::now();
    memory.use(at, at + FreshMemory::piece_bytes);
    fresh.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return fresh;
}

}  // namespace xorder::io
