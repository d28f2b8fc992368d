// Reorders the array of a file within that file, without a second copy.
//
//   const auto file = xorder::io::open_array("a.npy");
//   xorder::InPlaceJob job(file, xorder::transposition());  // a square matrix; nothing has been written
//   job.run();                                              // if this is killed, the next line restores it
//   xorder::InPlaceJob(file, xorder::transposition(), {}, xorder::InPlace::roll_back).run();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/permutation.hpp"
#include "xorder/work/work.hpp"

namespace xorder::plan {
struct InPlacePlan;
}

namespace xorder::tiles {

/// What to do with the file: reorder it; or, if an earlier run has left it half done, finish that or restore
/// what was there before.
enum class InPlace { begin, resume, roll_back };

/// A reordering of an array within its file, ready to run, in one pass or several. Tiles change places with
/// each other, or elements within tiles, some of them at a time. If the shape changes, the header of an .npy
/// file does so at last. The content of a tile that is about to be overwritten is in the undo area, a file in
/// the scratch directory (by default beside the file) of at most 1 GiB, or elsewhere in the file, and has
/// been synced. Beside the file a journal says how far the run is. So whatever happens, also to a run that
/// resumes or rolls back, another one can do either. While the file is half done, runs of this library refuse
/// it as input and output. If run() throws, the file may be half done.
class InPlaceJob final : public work::Work {
 public:
  /// Makes the plan. Nothing is written. Throws InputError if the file is not an .npy or raw file, its
  /// elements do not follow each other in C or Fortran order, its header has no room for the shape of the
  /// result, there is no plan for so little memory, or options ask for what only a second file can have.
  /// Throws it too if the file is half done and `how` is begin; or it is not, and `how` is another one; or it
  /// was half done by another reordering. To go on, the file may have been opened before or after its header
  /// changed.
  InPlaceJob(const io::ArrayFile& file, const Permutation& permutation, work::Options options = {},
             InPlace how = InPlace::begin);
  /// For a reordering of the file's bytes, whose result has this shape. `file` is the array as it was when
  /// the run began.
  InPlaceJob(const io::ArrayFile& file, const Reordering& what, const std::vector<std::uint64_t>& extents,
             work::Options options = {}, InPlace how = InPlace::begin);
  ~InPlaceJob() override;
  InPlaceJob(InPlaceJob&&) noexcept;
  InPlaceJob& operator=(InPlaceJob&&) noexcept;

  std::string describe() const override;

 private:
  struct Begun;
  InPlaceJob(const Begun& begun, work::Options options, InPlace how);
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  InPlace how_;
  std::unique_ptr<plan::InPlacePlan> plan_;  // null: nothing moves
};

}  // namespace xorder::tiles

namespace xorder {
using tiles::InPlace;
using tiles::InPlaceJob;
}  // namespace xorder
