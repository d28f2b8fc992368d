#include "parts/tiles_pass.hpp"

#include <algorithm>

#include "io/ranges.hpp"
#include "plan/processors.hpp"
#include "task/parallel.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

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
      rank_(static_cast<uint64_t>(run.team()->rank())),
      threads_(run.frame().options.threads),
      parts_{io::BlockMemory(plan.part_bytes()), io::BlockMemory(plan.part_bytes())},
      temp_(plan.part_bytes()) {}

// The runs of a part, in requests that meet at multiples of their size in the file.
void TilesPass::transfer(Direction direction, uint64_t tile) {
  const bool reads = direction == Direction::read;
  const io::Location place = reads ? source_ : target_;
  const auto basis = reads ? tiling_.source_basis() : tiling_.target_basis();
  const Word base = reads ? tiling_.source_base(tile, rank_) : tiling_.target_base(tile, rank_);
  const int lg_run = reads ? tiling_.source_run() : tiling_.target_run();
  const uint64_t run_bytes = plan_.element_bytes() << lg_run;
  constexpr uint64_t request = plan::transfer_bytes;

  const auto one_run = [&](uint64_t number) {
    if (run_.stop().stop_requested()) throw Cancelled();
    Word at = base;
    for (std::size_t i = static_cast<std::size_t>(lg_run); i < basis.size(); ++i) {
      if (number << lg_run >> i & 1) at ^= basis[i];
    }
    const uint64_t begin = place.offset + at * plan_.element_bytes(), end = begin + run_bytes;
    std::byte* const memory = part(tile) + number * run_bytes;
    task::each((end - 1) / request - begin / request + 1, [&](uint64_t i) {
      const uint64_t first = begin / request + i;
      const uint64_t from = std::max(begin, first * request), to = std::min(end, (first + 1) * request);
      if (reads)
        io::read_range(place.file, from, memory + (from - begin), to - from);
      else
        io::write_range(place.file, from, memory + (from - begin), to - from);
    });
  };
  task::each(plan_.part_bytes() / run_bytes, one_run);
}

// All that can fail on one rank comes before the ranks meet: whoever has begun to exchange goes on to the end.
void TilesPass::permute(uint64_t tile) {
  const auto permutation =
      mpi::plan_rounds(tiling_.within(tile), static_cast<int>(plan_.ranks()), tiling_.bits());
  if (permutation->does_nothing()) return;
  mpi::Prepared prepared(*permutation, static_cast<int>(rank_), plan_.element_bytes(),
                         mpi::default_slice_bytes);
  run_.team()->meet();
  prepared.run(comm_, part(tile), temp_.data(), threads_);
  sent_.messages += prepared.sent().messages;
  sent_.bytes += prepared.sent().bytes;
}

void TilesPass::move(std::size_t number) {
  task::Workers workers(std::max(plan::transfer_threads(run_.frame().memory()), threads_));
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
