#include "parts/tiles_pass.hpp"

#include "plan/processors/exchange_memory.hpp"
#include "task/parallel.hpp"
#include "work/team.hpp"

namespace xorder::parts {

using gf2::Word;
using std::uint64_t;

TilesPass::TilesPass(const plan::PartsPlan& plan, work::Run& run, MPI_Comm comm, io::Location source,
                     io::Location target)
    : plan_(plan),
      tiling_(plan.tiling()),
      run_(run),
      comm_(comm),
      source_(source),
      target_(target),
      storage_(run.stop()),
      rank_(static_cast<uint64_t>(run.team()->rank())),
      threads_(run.frame().options.threads),
      parts_{io::BlockMemory(plan.part_bytes()), io::BlockMemory(plan.part_bytes())},
      temp_(plan.part_bytes()) {}

// Reads or writes the runs of this rank's part of a tile.
void TilesPass::transfer(Direction direction, uint64_t tile) {
  const bool reads = direction == Direction::read;
  const io::Location place = reads ? source_ : target_;
  const gf2::BitMatrix& basis = reads ? tiling_.source_basis() : tiling_.target_basis();
  const Word base = reads ? tiling_.source_base(tile, rank_) : tiling_.target_base(tile, rank_);
  const int lg_run = reads ? tiling_.source_run() : tiling_.target_run();
  const uint64_t run_bytes = plan_.element_bytes() << lg_run;

  const auto one_run = [&](uint64_t number) {
    const Word at = base ^ basis(number << lg_run);
    std::byte* const memory = part(tile) + number * run_bytes;
    if (reads)
      storage_.transfer(io::read_range, place, at * plan_.element_bytes(), memory, run_bytes);
    else
      storage_.transfer(io::write_range, place, at * plan_.element_bytes(), memory, run_bytes);
  };
  task::each(plan_.part_bytes() / run_bytes, one_run);
}

// Everything that can fail on one rank comes before the ranks meet. A rank that has begun the exchange goes
// on to its end.
void TilesPass::permute(uint64_t tile) {
  const auto permutation =
      mpi::plan_rounds(tiling_.within(tile), static_cast<int>(plan_.ranks()), tiling_.bits());
  if (permutation->does_nothing()) return;
  mpi::Prepared prepared(*permutation, static_cast<int>(rank_), plan_.element_bytes(),
                         plan::default_slice_bytes);
  prepared.permute_before(part(tile), temp_.data(), threads_);
  run_.team()->meet();
  prepared.run(comm_, part(tile), temp_.data(), threads_);
  sent_.messages += prepared.sent().messages;
  sent_.bytes += prepared.sent().bytes;
}

void TilesPass::move(std::size_t number) {
  task::Workers workers = machine::transfer_workers(run_.frame());
  const uint64_t tiles = tiling_.tiles();
  run_.begin(2 * plan_.block_bytes(), number);
  run_.with(workers, [&] { transfer(Direction::read, 0); });
  for (uint64_t tile = 0; tile < tiles; ++tile) {
    const auto beside = [&] {
      if (tile > 0) transfer(Direction::write, tile - 1);
      if (tile + 1 < tiles) transfer(Direction::read, tile + 1);
    };
    run_.with(workers, beside, [&] { permute(tile); });
  }
  run_.with(workers, [&] { transfer(Direction::write, tiles - 1); });
}

}  // namespace xorder::parts
