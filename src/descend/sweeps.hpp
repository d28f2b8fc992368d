// The sweeps over files that a plan consists of (plan/sweeps.hpp has what they are, with pictures).
#pragma once

#include <stop_token>

#include "descend/groups.hpp"
#include "descend/records.hpp"
#include "plan/sweeps.hpp"

namespace xorder::descend {

/// Performs the sweep's iterations on all records of `from`, and writes them to `to`: where `from` is, if it is in
/// place. Throws IoError, Cancelled, and what the computation throws. To be called in an arena of plan.threads.
void perform(const plan::SweepPlan& plan, const plan::Sweep& sweep, Groups& groups, RecordSource& from,
             RecordSink& to, const std::stop_token& stop);

}  // namespace xorder::descend
