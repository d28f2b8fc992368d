// How a schedule is run out of core in stripes.
//
// In the scratch file the content of each slot lies together: rows, one after the other, each of which is a
// run of one row of the output. Rows do not depend on each other. So a *stripe*, some rows of every slot, is
// read, goes through all steps of the schedule in memory, and is written, before the next one. It has as many
// rows as fit in memory and take the least time.
//
//   scratch: slot by slot        a stripe in memory               output: a processor's panel, row by row
//
//   rows of (0,0) ████░░░░      (0,0) ██ ⇄ (1,0) ██     row 0   (0,0)│(0,1)│ ..
//   rows of (0,1) ████░░░░  ──▶   ⇅          ⇅      ──▶     1   (0,0)│(0,1)│ ..
//   rows of (1,0) ████░░░░      (0,1) ██ ⇄ (1,1) ██         2   ..
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "xorder/plan/summary.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::plan {

/// The content of the slots, and where it belongs in the output. Immutable.
class StripeGeometry {
 public:
  virtual ~StripeGeometry() = default;

  /// A slot's content: the elements of a panel's rows in some columns of the matrix. Its bytes
  /// [before(y), before(y + 1)) are row y.
  struct Part {
    schedule::Place from;       ///< its slot before the first step
    std::uint64_t scratch = 0;  ///< where it begins in the scratch file
    std::uint64_t first_column = 0, columns = 0;
    std::uint64_t first_row = 0;  ///< of the panel, in the matrix
    std::size_t matrix = 0;       ///< which one, if there are several
  };
  /// Consecutive rows of the output, which consist of the runs of some parts and of zeros elsewhere.
  struct Panel {
    std::uint64_t target = 0;  ///< where it begins in the output
    std::uint64_t rows = 0;
    std::vector<Part> parts;
    std::uint64_t row_bytes = 0;
  };

  const std::vector<Panel>& panels() const { return panels_; }
  /// Rows that are too long for the memory are cut into this many pieces, which then count as rows.
  std::uint64_t cuts() const { return cuts_; }

  virtual std::uint64_t before(const Part& part, std::uint64_t row) const = 0;
  /// `count` runs of one size, consecutive in the part's content and row_bytes apart in the panel.
  struct Runs {
    std::uint64_t position = 0;  ///< of the first, from the beginning of the panel's first row
    std::uint64_t bytes = 0;     ///< of each
    std::uint64_t count = 1;
  };
  /// Replaces `out` by the runs of the rows [first, end) of a part, in the order of its content.
  virtual void runs(const Part& part, std::uint64_t first, std::uint64_t end,
                    std::vector<Runs>& out) const = 0;
  /// A number of rows that take whole blocks of `block` bytes, a power of two, in any part; 1 if it is not
  /// known.
  virtual std::uint64_t aligned_rows(std::uint64_t /*block*/) const { return 1; }
  /// Whether runs cover the rows completely.
  virtual bool dense() const { return true; }

 protected:
  StripeGeometry() = default;

  std::vector<Panel> panels_;
  std::uint64_t cuts_ = 1;
};

/// Blocks of a matrix: all rows of a part are runs of the same columns.
class BlockGeometry final : public StripeGeometry {
 public:
  /// `row_elements` is the length of the output's rows. The panels' rows and the parts' columns are in
  /// elements. `memory` is for one stripe; if one row of all panels is larger, rows are cut.
  BlockGeometry(std::vector<Panel> panels, std::uint64_t row_elements, std::uint64_t element_bytes,
                std::uint64_t memory);
  std::uint64_t before(const Part& part, std::uint64_t row) const override;
  void runs(const Part& part, std::uint64_t first, std::uint64_t end, std::vector<Runs>& out) const override;
  std::uint64_t aligned_rows(std::uint64_t block) const override;

 private:
  std::uint64_t cut(const Part& part, std::uint64_t row) const;
  std::uint64_t element_bytes_, row_bytes_;
};

/// The memory of the processors themselves, with what is kept for every slot (content, part, payload and
/// arrival), and that of the threads, for rows that are put together and for requests.
std::uint64_t own_memory(const schedule::Schedule& schedule, const ProcessorSetting& setting);
/// How much of the memory is for one stripe. Throws InputError if there are too many processors and slots for
/// the memory.
std::uint64_t stripe_memory(const schedule::Schedule& schedule, const ProcessorSetting& setting);

struct StripePlan {
  std::string name;  ///< of the schedule
  std::shared_ptr<const schedule::Schedule> schedule;
  std::shared_ptr<const StripeGeometry> geometry;
  std::uint64_t rows = 1;       ///< of a stripe
  std::uint64_t most_rows = 0;  ///< of a panel
  /// Whether the receiver puts rows in their places. If not, they stay in their slots and are put in their
  /// places after the last step, panel by panel, which uses the cache better if parts are short.
  bool put_at_once = true;
  PassSummary pass;

  std::uint64_t stripes() const { return ceil_div(most_rows, rows); }
  std::string describe() const;
};

/// Plans the stripes of `bytes` bytes of data. Throws InputError if no stripe fits in the memory.
StripePlan plan_stripes(std::string name, std::shared_ptr<const schedule::Schedule> schedule,
                        std::shared_ptr<const StripeGeometry> geometry, std::uint64_t bytes,
                        const ProcessorSetting& setting);

}  // namespace xorder::plan
