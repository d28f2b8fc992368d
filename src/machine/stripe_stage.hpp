// A schedule run out of core in stripes.
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

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/stage.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::machine {

/// What lies in the slots, and where it belongs in the output.
class StripeGeometry {
 public:
  virtual ~StripeGeometry() = default;

  /// A slot's content: rows of which row y is bytes [before(y), before(y + 1)) of it.
  struct Part {
    schedule::Place from;       ///< where the schedule begins with it
    std::uint64_t scratch = 0;  ///< where it begins in the scratch file
    // For the geometry's own use: the columns of its runs, and the row of the matrix that is its row 0.
    std::uint64_t first_column = 0;
    std::uint64_t columns = 0;
    std::uint64_t first_row = 0;
  };
  /// Rows of the output that follow each other and consist of the runs of some parts; zeros where no run is.
  struct Panel {
    std::uint64_t target = 0;  ///< where it begins in the output
    std::uint64_t rows = 0;
    std::vector<Part> parts;
  };

  const std::vector<Panel>& panels() const { return panels_; }
  /// A row that is too long for the memory is cut into this many pieces, which count as rows then.
  std::uint64_t cuts() const { return cuts_; }
  std::uint64_t row_bytes() const { return row_bytes_; }

  virtual std::uint64_t before(const Part& part, std::uint64_t row) const = 0;
  /// A piece of a row of a part. Positions count from the beginning of the panel's first row.
  struct Run {
    std::uint64_t position = 0;
    std::uint64_t bytes = 0;
  };
  /// The pieces of a row, in the order in which its content has them; at most three.
  virtual std::span<const Run> runs(const Part& part, std::uint64_t row, std::array<Run, 3>& out) const = 0;
  /// Whether runs cover all of the rows.
  virtual bool dense() const { return true; }

 protected:
  std::vector<Panel> panels_;
  std::uint64_t row_bytes_ = 0;
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
  std::span<const Run> runs(const Part& part, std::uint64_t row, std::array<Run, 3>& out) const override;
  std::uint64_t position(const Part& part, std::uint64_t row) const;

 private:
  std::uint64_t cut(const Part& part, std::uint64_t row) const;
  std::uint64_t element_bytes_;
};

class StripeStage final : public Stage {
 public:
  /// Of `memory`, this much is for one stripe. Throws InputError if there are too many processors and slots for it.
  static std::uint64_t stripe_memory(const schedule::Schedule& schedule, std::uint64_t memory);

  StripeStage(std::string name, std::unique_ptr<schedule::Schedule> schedule,
              std::unique_ptr<StripeGeometry> geometry, std::uint64_t bytes, std::uint64_t memory);
  std::vector<plan::PassSummary> passes() const override;
  std::string describe() const override;
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  class Stripe;

  std::string name_;
  std::unique_ptr<schedule::Schedule> schedule_;
  std::unique_ptr<StripeGeometry> geometry_;
  std::uint64_t bytes_;
  std::uint64_t memory_;
  std::uint64_t rows_ = 1;  // of a stripe
  std::uint64_t most_rows_ = 0;
};

}  // namespace xorder::machine
