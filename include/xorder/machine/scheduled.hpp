// Reorderings by virtual processors: the file is cut into the blocks of P of them, and a schedule says which
// messages they send each other. The output is the same, byte for byte, as that of tiles::Job.
//
//   rounds     any BMMC permutation, all extents powers of two (src/schedule/rounds.hpp)
//   exchange   transposition and bit reversal by neighbour exchanges on a hypercube, 2^d ≤ rows and columns,
//              powers of two (src/schedule/exchange.hpp)
//   banded     transposition of a banded matrix in band storage, on a hypercube
//              (src/schedule/banded/banded.hpp)
//   mesh       transposition of any matrix on an N × N mesh or torus, N ≤ rows and columns
//              (src/schedule/mesh/)
//
// Out of core, each of them is two passes over the data. The first pass works within processors, from the
// input to a scratch file, so that what a processor will send lies together there. Then the schedule runs,
// from the scratch file to the output. Rounds make the whole blocks of some processors at a time. The others
// go in stripes: a few rows of every block at once go through all steps in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/machine/job.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/exchange_array.hpp"
#include "xorder/schedule/network.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::machine {

struct ScheduleChoice {
  enum class Kind { rounds, exchange, mesh };
  Kind kind = Kind::rounds;
  /// P, a power of two or, for a mesh, a square. The default is 16, or fewer if there is too little to share,
  /// or as many more as it takes for their blocks to fit in memory.
  std::optional<std::uint64_t> processors{};
  /// For rounds: f, where the processor number is bits f .. f+p−1 of an element's index. The default is the
  /// top bits. Other layouts take another pass, which puts the elements where they belong.
  std::optional<int> layout{};
  /// For the exchange: an array of your own, for 2^dimension processors.
  std::optional<schedule::ExchangeArray> array{};
  /// For the mesh: how messages travel. With `xy` they go along the row first, which takes one step more.
  schedule::MeshRouting routing = schedule::MeshRouting::any;
  /// For the mesh: whether it is a torus, with routing `any` or `xy`.
  bool torus = false;
};

/// Plans the run; nothing is written. The parameters are those of Job. Throws InputError as Job does, for a
/// reordering that the schedule cannot do (and says which schedule can), for a number of processors or a
/// layout that does not fit, and if the memory is too small; Error if the checker (schedule/check.hpp) finds
/// a fault in what an array of your own does. Each pass reads and writes the data once. A run
/// of two passes takes scratch disk of the data's size, one of more passes twice that. With link
/// times, runs are also simulated on such a network (Machine); InputError if one is negative or not finite.
std::unique_ptr<Job> scheduled(io::ArrayFile input, const Reordering& what,
                               std::vector<std::uint64_t> extents, std::filesystem::path output,
                               work::Options options, const ScheduleChoice& choice,
                               const std::optional<schedule::LinkTimes>& link_times = {});

/// Moves the blocks of a file as a schedule says, one of your own for example (schedule/listed.hpp). The
/// input is P blocks of S equal slots in order, as it lies in its file, P and S from the schedule, and so is
/// the output, of the same type, shape and order. What no message replaces stays. One pass, without scratch
/// files. Throws Error if the checker (schedule/check.hpp) finds a fault, and says which; InputError as
/// scheduled() does, if the elements do not divide into slots, for a schedule that computes, and for one that
/// is too large to be checked.
std::unique_ptr<Job> scheduled_slots(io::ArrayFile input, std::shared_ptr<const schedule::Schedule> schedule,
                                     std::filesystem::path output, work::Options options,
                                     const std::optional<schedule::LinkTimes>& link_times = {});

/// The transposition of banded matrices in band storage, in the order `columns` or `rows`. All have the same
/// N, and lie in one input or in one each. The N columns (rows) of a matrix lie on P = 2^d processors in
/// consecutive blocks. Several matrices go through the hypercube at once, by the best schedule that is known
/// for them, never in more steps than one after another. Inputs and shapes are those of
/// band::transposition(); so is the output, byte for byte. Throws InputError as scheduled() does, and as that
/// does for inputs and bands.
std::unique_ptr<Job> scheduled_bands(std::vector<io::ArrayFile> inputs, const std::vector<Band>& bands,
                                     std::filesystem::path output, work::Options options,
                                     std::optional<std::uint64_t> processors,
                                     const std::optional<schedule::LinkTimes>& link_times = {});

}  // namespace xorder::machine
