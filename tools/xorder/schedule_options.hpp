// --schedule, --processors, --layout, --routing, --torus and --network: who moves the data of the commands
// that permute.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "moving.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/mesh.hpp"

namespace xorder::cli {

/// The values of --routing.
const std::map<std::string, schedule::Mesh::Routing>& routings();

class ScheduleOptions {
 public:
  /// `possible`: the schedules that can do what the command does, separated by |, for its help. This object
  /// must live as long as the command.
  void add_to(CLI::App& command, const std::string& possible);

  /// The job of the tile engine or of virtual processors. `extents` is the result's shape. Throws InputError
  /// for options that cannot be combined.
  std::unique_ptr<work::Work> work(const Request& request, const Reordering& what,
                                   std::vector<std::uint64_t> extents) const;
  /// The same for the transposition of bands.
  std::unique_ptr<work::Work> work(const Request& request, const std::vector<Band>& bands) const;

 private:
  void check() const;
  work::Options options(const Request& request) const;
  std::optional<std::uint64_t> processors() const;

  std::string schedule_ = "tiles", processors_, layout_, routing_, network_;
  bool torus_ = false;
};

}  // namespace xorder::cli
