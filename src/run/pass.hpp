// What the executor (run/executor.hpp) runs: a pass reads files once and writes a file once, in steps.
//
//   unit   read ──▶ decode ─┐             ┌─▶ encode ──▶ write
//   unit   read ──▶ decode ─┼─▶ compute ──┤                       one step
//   unit   read ──▶ decode ─┘             └─▶ encode ──▶ write
//
// A *unit* is what is read together: some ranges of files. A *step* is one or more units; it is written, a
// range at a time, when all of them are decoded and the step is computed. The pass says which ranges these
// are and where they lie in memory, and what decoding, computing and encoding mean. It knows nothing of
// requests, queues and threads.
//
// Units are admitted in a fixed order, and a unit gets all its memory when it is admitted. So a step that has
// begun never waits for a later one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "io/file.hpp"

namespace xorder::run {

/// Contiguous bytes of a file, and their place in memory. The address and the offset must be equal modulo the
/// rules' alignment. Whole blocks are transferred, so the memory of the blocks at both ends must hold nothing
/// else.
struct Range {
  const io::File* file = nullptr;
  std::uint64_t offset = 0, bytes = 0;
  std::byte* data = nullptr;
};

struct Unit {
  std::uint64_t step = 0;    ///< the pass's name for its step
  bool last = true;          ///< of its step
  std::size_t slot = 0;      ///< for the pass's own use
  std::vector<Range> reads;  ///< of any length; may be none
};

struct Write {
  Range range;
  std::size_t slot = 0;  ///< for the pass's own use
};

/// How the executor treats a pass.
struct Rules {
  std::uint64_t read_alignment = 1, write_alignment = 1;
  /// Bytes that are read and written at once, usually. They limit how many requests are in flight.
  std::uint64_t read_bytes = 1, write_bytes = 1;
  /// A step begins only when all that came `most_steps` or more before it have ended.
  std::uint64_t most_steps = std::numeric_limits<std::uint64_t>::max();
  bool decodes = false;
  enum class Compute {
    none,
    at_once,    ///< as soon as it and all steps before it have been read and decoded; several at a time
    one_by_one  ///< in order, one at a time
  };
  Compute compute = Compute::none;
  bool encodes = false;
};

/// Functions that workers call may run at any time, for different units and steps at once. All others are
/// called by the thread that runs the executor.
class Pass {
 public:
  enum class Next { ready, later, end };

  virtual ~Pass() = default;

  /// Must not change while the pass runs.
  virtual const Rules& rules() const = 0;
  /// Admits the next unit, if there is memory for it, and fills in `unit`, whose reads are empty. `later`: as
  /// soon as something that is in flight has been decoded or written. `end`: there are no more.
  virtual Next next_unit(Unit& unit) = 0;
  /// By a worker, if the rules say so: all that the unit reads has come.
  virtual void decode(Unit& /*unit*/) {}
  /// The unit has been read and decoded.
  virtual void decoded(Unit& /*unit*/) {}
  /// By a worker, if the rules say so: all units of the step have been decoded.
  virtual void compute(std::uint64_t /*step*/) {}
  /// Gives the next bytes that the step writes. Steps are written one after the other, in any order. `later`:
  /// as soon as something that is in flight has been written. `end`: there are no more.
  virtual Next next_write(std::uint64_t step, Write& write) = 0;
  /// By a worker, if the rules say so: makes the bytes that will be written.
  virtual void encode(Write& /*write*/) {}
  /// These bytes have been written; their memory is free.
  virtual void written(const Write& /*write*/) {}
};

}  // namespace xorder::run
