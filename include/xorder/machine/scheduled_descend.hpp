// ±2^b-descend and -ascend computations in which virtual processors send each other elements by Hu's
// schedules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "xorder/descend/descend.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/machine/job.hpp"

namespace xorder::machine {

enum class DescendSchedule { aspc, pipelined };

/// Does what DescendJob (descend/job.hpp) does, with the same result, but does the iterations b ≥ lg V, which
/// are between the blocks of P processors, on the machine of virtual processors (machine.hpp). Block i
/// belongs to processor G(i) of a hypercube, G the reflected Gray code. What it needs of others comes over
/// the links, in messages that carry runs of records. Some equal offsets of all blocks are read at a time,
/// taken through these iterations, and written. The iterations within blocks are sweeps.
///
///   aspc        one iteration after the other, each in 4 steps or fewer
///               (src/schedule/descend/plus_minus.hpp)
///   pipelined   runs of records in n = lg P iterations at once (src/schedule/descend/descend.hpp). An
///               array of at most 2^18 records that is at most half of the memory is read and written
///               once, and the whole schedule runs in memory, record by record, in 4(lg M + V − 1) steps,
///               to see it at work: some 4 lg P messages of a record each. For 16 processors, memory also
///               holds about 35 records on their way for each
///
/// sizes.processors 0 means 16, more if that is faster, and fewer if there are not as many elements.
/// Throws InputError as DescendJob does; if the memory is too small, the error states the memory needed.
/// Link times are as for scheduled().
std::unique_ptr<Job> scheduled_descend(std::vector<io::ArrayFile> inputs,
                                       std::unique_ptr<descend::Computation> what, const io::DType& element,
                                       const std::vector<std::uint64_t>& extents,
                                       std::filesystem::path output, work::Options options,
                                       DescendSchedule schedule, const plan::SweepSizes& sizes = {},
                                       const std::optional<schedule::LinkTimes>& link_times = {});

}  // namespace xorder::machine
