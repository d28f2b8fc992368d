// Reorderings done by virtual processors: the file is cut into the blocks of P of them, and a schedule says
// who sends what to whom. The output is the same, byte for byte, as the tile engine's (job.hpp).
//
//   rounds     any BMMC permutation, all extents powers of two (schedule/rounds.hpp)
//   exchange   transposition and bit reversal by neighbour exchanges on a hypercube, 2^d ≤ rows and columns,
//              powers of two (schedule/exchange.hpp)
//   banded     transposition of a banded matrix in band storage, on a hypercube (schedule/banded.hpp)
//   mesh       transposition of any matrix on an N × N mesh, N ≤ rows and columns (schedule/mesh.hpp)
//
// Out of core, each of them is two passes over the data. What stays within a processor is done first, from
// the input to a scratch file, so that what a processor will send lies together there. Then the schedule
// runs, from the scratch file to the output: rounds for some processors' whole blocks after the other;
// exchange and mesh in stripes, a few rows of every block at once, that go through all steps in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/mesh.hpp"
#include "xorder/work/work.hpp"

namespace xorder::machine {

struct ScheduleChoice {
  enum class Kind { rounds, exchange, mesh };
  Kind kind = Kind::rounds;
  /// P, a power of two, for a mesh a square. Default: 16, or fewer if there is too little to share, or as
  /// many as it takes for their blocks to fit in memory.
  std::optional<std::uint64_t> processors{};
  /// Rounds: the processor number is bits f .. f+p−1 of an element's index. Default: the top bits. Other
  /// layouts cost a pass more, which puts the blocks where they belong.
  std::optional<int> layout{};
  /// Mesh: how messages travel. With `xy` along the row first, which takes a step more.
  schedule::Mesh::Routing routing = schedule::Mesh::Routing::any;
};

/// Plans it; nothing is written. Parameters as of Job. Throws InputError for a reordering that the schedule
/// cannot do (says which can), for a number of processors or a layout that does not fit, and if the memory is
/// too small for it. Each pass reads and writes the data once; scratch disk of the data's size (twice that
/// with a layout). Report::traffic has what crossed the network, a stripe or a group of blocks being a run of
/// the schedule of its own: steps are counted once, messages as often as they were sent.
std::unique_ptr<work::Work> scheduled(io::ArrayFile input, const Reordering& what,
                                      std::vector<std::uint64_t> extents, std::filesystem::path output,
                                      work::Options options, const ScheduleChoice& choice);

/// The transposition of a banded matrix in band storage, order `columns` or `rows`, N columns (rows) on P =
/// 2^d processors in consecutive blocks, by the schedule for banded matrices (schedule/banded.hpp). The
/// output is that of BandTransposition, byte for byte. Throws InputError as `scheduled`, and as
/// BandTransposition for input and band.
std::unique_ptr<work::Work> scheduled_band(io::ArrayFile input, const Band& band,
                                           std::filesystem::path output, work::Options options,
                                           std::optional<std::uint64_t> processors);
/// Of several matrices of the same N, whose storages lie one after the other in the input and the output:
/// they go through the hypercube at once, by the best schedule that is known for them
/// (schedule/bands_at_once.hpp), never in more steps than one after another. Shapes as of BandTransposition.
std::unique_ptr<work::Work> scheduled_bands(io::ArrayFile input, const std::vector<Band>& bands,
                                            std::filesystem::path output, work::Options options,
                                            std::optional<std::uint64_t> processors);

}  // namespace xorder::machine
