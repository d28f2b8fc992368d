// What the commands that move data have in common: their options, and running a job with progress and a
// report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

/// OUT is complete, but not its report or trace. Exit code 3.
class ReportLost : public Error {
 public:
  using Error::Error;
};

/// The options that say what a raw file holds.
struct RawOptions {
  std::string dtype, shape, offset;

  void add_to(CLI::App& command);
  std::optional<io::RawLayout> layout() const;
  /// The array in this file. Throws as io::open_array() does.
  io::ArrayFile open(const std::string& path) const;
};

/// What the user has said, checked as far as it can be without knowing the command.
struct Request {
  std::vector<io::ArrayFile> inputs;
  std::filesystem::path output;
  work::Options options;

  const io::ArrayFile& input() const { return inputs.front(); }
  /// What the command is about: what the first input holds, or, with options.parts, the array of which it is
  /// a part. Throws InputError if that is too large.
  io::ArrayDescription array() const;
};

/// One command that reads IN and writes OUT.
class MovingCommand {
 public:
  /// Says what is to be done.
  using Make = std::function<std::unique_ptr<work::Work>(const Request&)>;

  /// Adds IN, OUT and the common options to the command. When it is chosen, `make` is called. Commands with
  /// several inputs name those after the first, which is A then.
  static void add_to(CLI::App& command, Make make, std::vector<std::string> more_inputs = {});

 private:
  work::Options options() const;
  /// IN or OUT as this process has it.
  std::string own(const std::string& path) const;
  void run() const;

  Make make_;
  std::vector<std::string> inputs_;
  std::string output_;
  RawOptions raw_;
  std::string memory_, threads_, engine_ = "auto", device_, tmpdir_, trace_, progress_ = "auto";
  std::string layout_;
  bool parts_ = false, force_ = false, dry_run_ = false, quiet_ = false, json_ = false;
};

}  // namespace xorder::cli
