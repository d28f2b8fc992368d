// The permutation of an array whose blocks lie in files of many ranks. Each rank reads a file of its own and
// makes one.
//
// If plan::PartsPlan says so, a rank first brings together, within its block, what it has of each common
// tile. Then the tiles are done one after the other: each rank reads its part, all ranks permute the tile in
// memory as libxorder_mpi does, and each writes the part that it then has. Only elements are sent, no
// indices.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/parts.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/schedule/traffic.hpp"
#include "xorder/work/work.hpp"

namespace xorder::tiles {
class TileEngine;
}

namespace xorder::work {
class Team;
}

namespace xorder::parts {

class Job final : public work::Work, public schedule::Sender {
 public:
  /// Collective among the ranks of the team, which must be those of `comm` in the same order. `input` is this
  /// rank's part of the array, `what` the permutation of the whole, and `extents` the shape of the whole
  /// result; parts are slabs of its first axis. The index bits from `lowest_part_bit` on select an element's
  /// part; if it is absent, the top bits do. Within a part, elements are in the order of their indices. The
  /// team must outlive the job. Throws InputError unless the number of ranks and all extents are powers of
  /// two and the first axis of the result has a coordinate for each rank. Also throws as tiles::Job does.
  Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options, std::optional<int> lowest_part_bit,
      work::Team& team, MPI_Comm comm);
  ~Job() override;

  std::string describe() const override;
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t bytes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  MPI_Comm comm_;
  plan::PartsPlan plan_;
  std::unique_ptr<tiles::TileEngine> before_;
};

}  // namespace xorder::parts
