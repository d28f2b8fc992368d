// What the engines of virtual processors have in common: how many there are, what they take for themselves,
// and how they reach their files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "plan/setting.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/network.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::plan {

/// The number of processors if none is given.
inline constexpr std::uint64_t default_processors = 16;

/// What a plan for virtual processors depends on.
struct ProcessorSetting : Setting {
  std::optional<std::uint64_t> processors{};        ///< the number that is given, if any
  std::optional<schedule::LinkTimes> link_times{};  ///< if messages are timed
};

/// lg of the number of processors that is given; nothing if none is. Throws InputError if the number is not a
/// power of two, is above `most`, the number of `what` ("elements"), or is more than a network may have.
std::optional<int> wanted_lg(const std::optional<std::uint64_t>& processors, std::uint64_t most,
                             std::string_view what);

/// The same, but if no number is given that of default_processors, or of as many more as it takes for their
/// blocks to fit.
int choose_lg_processors(const std::optional<std::uint64_t>& processors, std::uint64_t most,
                         std::string_view what, const std::function<bool(int lg)>& fits);

/// Bytes that the machine takes (machine/machine.hpp), without what messages carry: for each processor, for
/// the links that are used (`links` at most), for the messages of the steps in progress and, if messages are
/// timed, for the clocks.
std::uint64_t machine_memory(const schedule::Network& network, std::uint64_t slots, std::uint64_t links,
                             const std::optional<schedule::LinkTimes>& link_times);
/// An epoch (machine/epochs.hpp) ends with the step that brings it to this number of messages. The number is
/// large enough that processors are busier with messages than with epochs, but at most half of all slots.
std::uint64_t window_messages(const schedule::Network& network, std::uint64_t slots);

/// If files are mapped, a processor uses a range of its block in place if it has at least this many bytes,
/// and processors with smaller blocks share a mapping with their neighbours. `bytes` are in use at once. The
/// rest of the pages at the ends of a shorter range would take more than an eighth of its size, page tables
/// as much again; and a process may only have 65,530 mappings.
std::uint64_t least_in_place(std::uint64_t bytes);
/// Memory for `bytes` bytes of blocks in `ranges` ranges. If they are mapped, it includes the rest of the
/// pages at their ends and the page tables.
std::uint64_t block_memory(std::uint64_t bytes, std::uint64_t ranges, bool mapped);
/// A bound of it, for any number of ranges that are used in place, in thousandths of the bytes.
constexpr std::uint64_t block_thousandths(bool mapped) { return mapped ? 1252 : 1000; }
/// The error that `at_once` blocks of `block` bytes do not fit in the memory. It names a number of MiB for
/// which `fits` is true, and is not for one less. Some large number must do.
InputError block_too_large(std::uint64_t block, std::uint64_t processors, std::uint64_t memory,
                           std::uint64_t at_once, const std::function<bool(std::uint64_t memory)>& fits);

/// The largest request for reading and writing files.
inline constexpr std::uint64_t transfer_bytes = largest_request;
/// The number of threads that do requests, each waiting for one at a time.
unsigned transfer_threads(std::uint64_t memory);
/// The bytes of a buffer for each of them.
std::uint64_t transfer_memory(std::uint64_t memory);
/// The same plus the pages of mapped files that are on their way to the disk (work::Delivery).
std::uint64_t transfer_memory(const Setting& setting);

}  // namespace xorder::plan
