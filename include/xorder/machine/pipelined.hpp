// A ±2^b-descend or -ascend computation by Hu's schedule, on the machine of virtual processors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "xorder/descend/descend.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::machine {

/// What DescendJob (descend/job.hpp) does, by Hu's schedule (schedule/descend.hpp) on the machine of virtual processors (machine.hpp), with the same
/// bytes: P of them on a hypercube, the records of each in its slots, and every record that another processor needs
/// sent there over the links, in 4(lg M + V − 1) steps. To see the schedule at work: everything is in memory, and a
/// message costs a fraction of a microsecond, some 4 lg P of them for each record. `processors` 0: 16, or fewer. Throws
/// InputError as DescendJob does, and if the memory is too small for inputs, records twice, slots and output. Report::traffic has
/// what crossed the network.
std::unique_ptr<work::Work> pipelined_descend(std::vector<io::ArrayFile> inputs,
                                              std::unique_ptr<descend::Computation> what,
                                              const io::DType& element,
                                              const std::vector<std::uint64_t>& extents,
                                              std::filesystem::path output, work::Options options,
                                              std::uint64_t processors);

}  // namespace xorder::machine
