// Performs the sweeps over files of a plan (plan/descend/sweeps.hpp explains them, with pictures).
#pragma once

#include <stop_token>

#include "descend/groups.hpp"
#include "descend/records.hpp"
#include "plan/descend/sweeps.hpp"

namespace xorder::descend {

/// Computes a sweep's iterations on strips that are in memory as a whole, instead of Groups.
class WholeStrips {
 public:
  virtual ~WholeStrips() = default;
  /// Works in place. The records are in the order of the strip's places. Called for one strip at a time.
  virtual void compute(const Strip& strip, std::byte* records) = 0;
};

/// Performs the sweep's iterations on all records of `from`, and writes them to `to`. These are the same
/// place if the sweep is in place. If `strips` is not null, which requires a gathered sweep, it does the
/// iterations. Throws IoError, Cancelled, and what the computation throws. Requires that it is called in an
/// arena of plan.threads threads.
void perform(const plan::SweepPlan& plan, const plan::Sweep& sweep, Groups& groups, RecordSource& from,
             RecordSink& to, const std::stop_token& stop, WholeStrips* strips = nullptr);

}  // namespace xorder::descend
