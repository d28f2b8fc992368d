// Moves tiles within a file, for the executor: some are read into slots of the memory, and copied to the undo
// area; meanwhile others, which are there, are permuted and written to their places.
#pragma once

#include <cstdint>
#include <vector>

#include "io/file.hpp"
#include "io/queue/queue.hpp"
#include "plan/tiles/in_place_pass.hpp"
#include "run/executor.hpp"
#include "tiles/in_place_kernel.hpp"

namespace xorder::tiles {

/// Reads a slot.
struct TileLoad {
  std::uint64_t slot = 0;
  std::uint64_t tile = 0;  ///< what lies at its place, or in the undo area if that is not in the file
  enum class From { file, file_saving, undo } from = From::file;  ///< file_saving: copies it to the undo area
  std::uint64_t undo_slot = 0;
};

/// Writes what a slot holds, which was read at the place hop.from, to the place hop.to.
struct TileMove {
  std::uint64_t slot = 0;
  plan::InPlaceHop hop;
};

class InPlaceMover {
 public:
  /// `file` and `undo` must outlive it. Throws std::bad_alloc.
  InPlaceMover(const plan::InPlacePass& plan, io::Location file, const io::File& undo);
  ~InPlaceMover();

  /// Loads and moves at once: they must be of different slots and places. In the end all is written, but not
  /// synced. Throws as run::execute() does.
  void perform(const std::vector<TileLoad>& loads, const std::vector<TileMove>& moves, io::Queue& queue,
               task::Workers& workers, const std::function<void()>& tick, std::stop_token stop);

 private:
  const plan::InPlacePass& plan_;
  io::Location file_;
  const io::File& undo_;
  io::BlockMemory memory_;
  InPlaceKernels kernels_;  // forward and back
};

}  // namespace xorder::tiles
