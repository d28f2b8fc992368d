#include "plan/processors/processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "plan/choose.hpp"
#include "rounding.hpp"
#include "schedule/clock.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {

using schedule::Network;
using std::uint64_t;

namespace {

constexpr uint64_t shortest_in_place = 64 << 10;

}  // namespace

std::optional<int> wanted_lg(const std::optional<uint64_t>& processors, uint64_t most,
                             std::string_view what) {
  if (!processors) return std::nullopt;
  const uint64_t p = *processors;
  if (!std::has_single_bit(p)) {
    const uint64_t below = std::bit_floor(std::max<uint64_t>(p, 1));
    throw InputError(fmt::format("{} virtual processors: a power of two is needed, such as {} or {}", p,
                                 below, below * 2));
  }
  if (p > most) {
    throw InputError(fmt::format("{} virtual processors are too many for {} {}", p, most, what));
  }
  const int lg = std::countr_zero(p);
  if (lg > Network::max_dimension) {
    throw InputError(
        fmt::format("{} virtual processors: at most 2^{} are possible", p, Network::max_dimension));
  }
  return lg;
}

int choose_lg_processors(const std::optional<uint64_t>& processors, uint64_t most, std::string_view what,
                         const std::function<bool(int lg)>& fits) {
  if (const auto wanted = wanted_lg(processors, most, what)) return *wanted;
  const int largest = std::min(static_cast<int>(std::bit_width(most)) - 1, Network::max_dimension);
  int lg = std::min(largest, std::countr_zero(default_processors));
  while (lg < largest && !fits(lg)) ++lg;
  return lg;
}

uint64_t machine_memory(const Network& network, uint64_t slots, uint64_t links,
                        const std::optional<schedule::LinkTimes>& link_times) {
  // Measured: a processor's node of the graph takes 2.7 to 3 KiB, a link's 152 bytes. each_message is a
  // message with its buffer, as it is made and on its way.
  constexpr uint64_t each_processor = 3 << 10, each_link = 160, each_message = 256;
  // Two epochs. The last step of each may exceed it, by one message per link at most.
  const uint64_t messages = 2 * (window_messages(network, slots) + network.links());
  // A clock for each kind of switching, which share a message's place, path and size.
  constexpr uint64_t clocks = 2, each_size = 64;
  const uint64_t simulation =
      !link_times
          ? 0
          : clocks * schedule::Clock::memory_of(network, slots, link_times->one_port) + messages * each_size;
  return simulation + network.nodes() * each_processor + std::min(links, network.links()) * each_link +
         network.link_numbers() * sizeof(void*) + messages * each_message;
}

uint64_t window_messages(const Network& network, uint64_t slots) {
  constexpr uint64_t each = 8;
  return std::min(each * network.nodes(), std::max<uint64_t>(network.nodes() * slots / 2, 1));
}

uint64_t least_in_place(uint64_t bytes) {
  constexpr uint64_t most_mappings = 1 << 13;
  return std::max(shortest_in_place, bytes / most_mappings);
}

uint64_t block_memory(uint64_t bytes, uint64_t ranges, bool mapped) {
  constexpr uint64_t page = 4096, pages_in_table = 512, each_range = 4 * page;  // two at the ends, two tables
  if (!mapped) return bytes;
  return bytes + bytes / pages_in_table + std::min(ranges, bytes / shortest_in_place + 1) * each_range;
}

InputError block_too_large(uint64_t block, uint64_t processors, uint64_t memory, uint64_t at_once,
                           const std::function<bool(uint64_t)>& fits) {
  return InputError(fmt::format(
      "a block of {} for each of {} virtual processors is too large for {} of memory: {} of them "
      "and buffers take {} MiB; use more processors or more memory",
      size_text(block), processors, size_text(memory), at_once, enough_mebibytes(memory, fits).value()));
}

unsigned transfer_threads(uint64_t memory) {
  return static_cast<unsigned>(std::clamp<uint64_t>(memory / (8 * transfer_bytes), 2, 12));
}

uint64_t transfer_memory(uint64_t memory) { return transfer_threads(memory) * transfer_bytes; }

uint64_t transfer_memory(const Setting& setting) {
  constexpr uint64_t most_on_the_way = 32 << 20;
  return transfer_memory(setting.memory) +
         (setting.mapped ? std::min(setting.memory / 16, most_on_the_way) : 0);
}

}  // namespace xorder::plan
