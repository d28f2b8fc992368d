// --schedule, --processors and --layout: who moves the data of the commands that permute.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "moving.hpp"

namespace xorder::cli {

class Scheduling {
 public:
  static std::shared_ptr<Scheduling> add_to(CLI::App& command);

  /// Whether nothing else than the tile engine was asked for.
  bool tiles() const { return schedule_ == "tiles" && !processors_ && layout_.empty(); }
  /// The tile engine's job, or that of virtual processors. `extents` is the result's shape. Throws InputError
  /// for options that do not go together.
  std::unique_ptr<run::Work> work(const Request& request, const Reordering& what,
                                  std::vector<std::uint64_t> extents) const;

 private:
  std::string schedule_ = "tiles", layout_;
  std::optional<std::uint64_t> processors_;
};

}  // namespace xorder::cli
