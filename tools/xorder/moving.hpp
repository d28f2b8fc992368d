// What the commands that move data have in common: their options, and running a job with progress and a
// report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {

/// The options that say what a raw file holds.
struct RawOptions {
  std::string dtype, shape, offset;

  void add_to(CLI::App& command);
  std::optional<io::RawLayout> layout() const;
};

/// A reordering and the shape of what comes out.
struct Target {
  Reordering what;
  std::vector<std::uint64_t> extents;
};

/// One command that reads IN and writes OUT.
class MovingCommand {
 public:
  /// Adds IN, OUT and the common options to the command. When it is chosen, `target` is called with the
  /// input's description and says what to do.
  static void add_to(CLI::App& command, std::function<Target(const io::ArrayDescription&)> target);

 private:
  void run() const;

  std::function<Target(const io::ArrayDescription&)> target_;
  std::string input_, output_;
  RawOptions raw_;
  std::string memory_, threads_, engine_ = "auto", device_ = "ssd", tmpdir_, progress_ = "auto";
  bool force_ = false, dry_run_ = false, quiet_ = false, json_ = false;
};

}  // namespace xorder::cli
