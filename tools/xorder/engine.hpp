// Who does what the commands that permute ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "arguments.hpp"
#include "moving.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {

class Engine {
 public:
  virtual ~Engine() = default;
  /// Adds IN, OUT and the options that all commands of this engine have. `make` is for the task that a
  /// command line asks for.
  virtual void add_frame(CLI::App& command, MovingCommand::Make make, const OtherFiles& others);
  /// Adds the engine's own options, and how OUT is stored. It must live as long as the command.
  virtual void add_to(CLI::App& command);
  /// The work of a reordering whose result has the shape `extents`. Throws InputError, also for options that
  /// cannot be combined.
  std::unique_ptr<work::Work> work(Request request, const Reordering& what,
                                   std::vector<std::uint64_t> extents) const;
  /// The same for the transposition of bands.
  std::unique_ptr<work::Work> work(const Request& request, const std::vector<Band>& bands) const;

 private:
  virtual std::unique_ptr<work::Work> reordering(const Request& request, const Reordering& what,
                                                 std::vector<std::uint64_t> extents) const = 0;
  virtual std::unique_ptr<work::Work> bands(const Request& request, const std::vector<Band>& bands) const = 0;

  std::optional<RawShape> shape_;  // of OUT
  std::optional<int> split_;       // along this axis of it
  std::optional<Order> order_;
};

/// The fastest one: tiles or, with --parts, tiles shared by all processes of the session's team; and bands.
std::shared_ptr<Engine> main_engine();

}  // namespace xorder::cli
