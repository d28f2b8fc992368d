// What the engines of virtual processors have in common: how many there are, what they take for themselves,
// and how they reach their files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "xorder/plan/device.hpp"
#include "xorder/plan/summary.hpp"
#include "xorder/schedule/network.hpp"

namespace xorder::plan {

/// If nobody asks for another number.
inline constexpr std::uint64_t default_processors = 16;

/// What a plan for virtual processors has to reckon with.
struct ProcessorConditions {
  std::uint64_t memory = 0;
  Device device;
  std::optional<std::uint64_t> processors{};  ///< that were asked for
  bool mapped = false;                        ///< blocks are mapped
};

/// lg of the number that was asked for, which is at most that of `most` of `what` ("elements"). Throws
/// InputError if it is larger, no power of two, or more than a network may have.
std::optional<int> wanted_lg(const std::optional<std::uint64_t>& processors, std::uint64_t most,
                             std::string_view what);

/// Bytes that the machine takes (machine/machine.hpp), without what messages carry: for each processor, for
/// the links that are used, `links` at most, and for the messages of the steps that are under way.
std::uint64_t machine_memory(const schedule::Network& network, std::uint64_t slots, std::uint64_t links);
/// A window (machine/windows.hpp) ends with the step with which it has so many messages: enough for a
/// processor to have more to do with them than with windows, but at most what half of all slots hold.
std::uint64_t window_messages(const schedule::Network& network, std::uint64_t slots);

/// Where files are mapped, a processor uses a range of its block in place if it has so many bytes at least;
/// and processors with smaller blocks share a mapping with their neighbours. `bytes` are in use at once.
/// Shorter ones would take more than an eighth more for the rest of the pages at their ends and for page
/// tables; and a process may only have 65,530 mappings.
std::uint64_t least_in_place(std::uint64_t bytes);
/// Memory for so many bytes of blocks, in so many ranges: with that rest, if they are mapped.
std::uint64_t block_memory(std::uint64_t bytes, std::uint64_t ranges, bool mapped);

/// Files are read and written in requests of at most this.
inline constexpr std::uint64_t transfer_bytes = std::uint64_t{1} << 20;
/// How many threads wait for requests, one each.
unsigned transfer_threads(std::uint64_t memory);
/// What a buffer for each of them takes.
std::uint64_t transfer_memory(std::uint64_t memory);
/// The same with the pages of mapped files that are on their way to the disk (work::Delivery).
std::uint64_t transfer_memory(const ProcessorConditions& conditions);

/// `pass`, whose data is read and written once in blocks of its sizes but at most transfer_bytes each, with
/// the time that takes.
PassSummary timed(PassSummary pass, const Device& device);

}  // namespace xorder::plan
