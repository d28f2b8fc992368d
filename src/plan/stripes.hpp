// How a schedule is run out of core in stripes.
//
// In the scratch file the content of each slot lies together: rows, one after the other, each of which is a
// run of one row of the output. What happens to a row has nothing to do with other rows. So some rows of
// every slot, a *stripe*, are read, go through all steps of the schedule in memory, and are written, before
// the next ones are.
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

#include "plan/processors.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::plan {

/// What lies in the slots, and where it belongs in the output. Immutable.
class StripeGeometry {
 public:
  virtual ~StripeGeometry() = default;

  /// A slot's content: those elements of a panel's rows that lie in some columns of the matrix. Row y is the
  /// bytes [before(y), before(y + 1)) of it.
  struct Part {
    schedule::Place from;       ///< where the schedule begins with it
    std::uint64_t scratch = 0;  ///< where it begins in the scratch file
    std::uint64_t first_column = 0, columns = 0;
    std::uint64_t first_row = 0;  ///< of the panel, in the matrix
    std::size_t matrix = 0;       ///< which one, if there are several
  };
  /// Rows of the output that follow each other and consist of the runs of some parts; zeros where no run is.
  struct Panel {
    std::uint64_t target = 0;  ///< where it begins in the output
    std::uint64_t rows = 0;
    std::vector<Part> parts;
    std::uint64_t row_bytes = 0;
  };

  const std::vector<Panel>& panels() const { return panels_; }
  /// A row that is too long for the memory is cut into this many pieces, which count as rows then.
  std::uint64_t cuts() const { return cuts_; }

  virtual std::uint64_t before(const Part& part, std::uint64_t row) const = 0;
  /// So many runs of one size, one after the other in the part's content and the panel's row_bytes apart
  /// there.
  struct Runs {
    std::uint64_t position = 0;  ///< of the first, from the beginning of the panel's first row
    std::uint64_t bytes = 0;     ///< of each
    std::uint64_t count = 1;
  };
  /// The rows [first, end) of a part, in the order in which its content has them, in place of what `out`
  /// held.
  virtual void runs(const Part& part, std::uint64_t first, std::uint64_t end,
                    std::vector<Runs>& out) const = 0;
  /// So many rows of any part take whole blocks of so many bytes, a power of two; 1 if it cannot be said.
  virtual std::uint64_t aligned_rows(std::uint64_t /*block*/) const { return 1; }
  /// Whether runs cover all of the rows.
  virtual bool dense() const { return true; }

 protected:
  StripeGeometry() = default;

  std::vector<Panel> panels_;
  std::uint64_t cuts_ = 1;
};

/// All rows of a part are runs of the same columns: blocks of a matrix.
class BlockGeometry final : public StripeGeometry {
 public:
  /// `row_elements` of the output; panels' rows and parts' columns in elements. `memory` is for one stripe; a
  /// row of all panels that is larger is cut.
  BlockGeometry(std::vector<Panel> panels, std::uint64_t row_elements, std::uint64_t element_bytes,
                std::uint64_t memory);
  std::uint64_t before(const Part& part, std::uint64_t row) const override;
  void runs(const Part& part, std::uint64_t first, std::uint64_t end, std::vector<Runs>& out) const override;
  std::uint64_t aligned_rows(std::uint64_t block) const override;

 private:
  std::uint64_t cut(const Part& part, std::uint64_t row) const;
  std::uint64_t element_bytes_, row_bytes_;
};

/// Of the memory, this much is for one stripe. Throws InputError if there are too many processors and slots
/// for it.
std::uint64_t stripe_memory(const schedule::Schedule& schedule, const ProcessorConditions& conditions);

struct StripePlan {
  std::string name;  ///< of the schedule
  std::shared_ptr<const schedule::Schedule> schedule;
  std::shared_ptr<const StripeGeometry> geometry;
  std::uint64_t rows = 1;       ///< of a stripe
  std::uint64_t most_rows = 0;  ///< of a panel
  /// Rows are put in their place by who receives them. If not, they come to their slots first, and are put in
  /// their places after the last step, panel by panel: if parts are short, the cache likes that better.
  bool put_at_once = true;
  PassSummary pass;

  std::uint64_t stripes() const { return (most_rows + rows - 1) / rows; }
  std::string describe() const;
};

/// For so many bytes of data. Throws InputError if no stripe fits in the memory.
StripePlan plan_stripes(std::string name, std::shared_ptr<const schedule::Schedule> schedule,
                        std::shared_ptr<const StripeGeometry> geometry, std::uint64_t bytes,
                        const ProcessorConditions& conditions);

}  // namespace xorder::plan
