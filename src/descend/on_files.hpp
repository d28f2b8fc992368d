// A computation from files to a file by the sweeps of a plan, in threads or by virtual processors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "descend/sweeps.hpp"
#include "plan/descend/sweeps.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"

namespace xorder::descend {

/// Throws InputError as the constructor of DescendJob does, except for what plan_of() checks.
work::Frame frame_of(std::vector<io::ArrayFile> inputs, const Computation& what, plan::Between between,
                     const io::DType& element, const std::vector<std::uint64_t>& extents,
                     std::filesystem::path output, work::Options options);

/// Throws InputError as plan::plan_sweeps does.
plan::SweepPlan plan_of(const work::Frame& frame, const Computation& what, const plan::SweepSizes& sizes,
                        plan::Between between, const std::optional<schedule::LinkTimes>& link_times = {});

std::vector<plan::PassSummary> passes_of(const plan::SweepPlan& plan);

/// Makes what computes the strips of the sweep with `nodes`, in the arena in which it computes.
using MakeStrips = std::function<ComputeStrip(const plan::Sweep&)>;

/// Does all sweeps, from the run's sources to its target. Also throws what the computation throws.
void run_sweeps(const plan::SweepPlan& plan, Computation& what, work::Run& run, const MakeStrips& make = {});

}  // namespace xorder::descend
