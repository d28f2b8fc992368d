// The sweeps over files that a plan consists of (plan/sweeps.hpp has what they are, with pictures).
#pragma once

#include <stop_token>

#include "descend/groups.hpp"
#include "descend/records.hpp"
#include "plan/sweeps.hpp"

namespace xorder::descend {

/// What computes a sweep's iterations on strips that are in memory as a whole, instead of Groups.
class WholeStrips {
 public:
  virtual ~WholeStrips() = default;
  /// In place; its records are in the order of its places. Called for one strip at a time.
  virtual void compute(const Strip& strip, std::byte* records) = 0;
};

/// Performs the sweep's iterations on all records of `from`, and writes them to `to`: where `from` is, if it
/// is in place; by `strips` if there are any, and the sweep is gathered. Throws IoError, Cancelled, and what
/// the computation throws. To be called in an arena of plan.threads.
void perform(const plan::SweepPlan& plan, const plan::Sweep& sweep, Groups& groups, RecordSource& from,
             RecordSink& to, const std::stop_token& stop, WholeStrips* strips = nullptr);

}  // namespace xorder::descend
