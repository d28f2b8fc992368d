// Shared by the commands that move data: their options, and running a job with progress and a report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

/// OUT is complete, but its trace is lost. Exit code 3.
class TraceLost : public Error {
 public:
  using Error::Error;
};

/// The options that describe a raw file.
struct RawOptions {
  std::string dtype, shape, offset;

  void add_to(CLI::App& command);
  std::optional<io::RawLayout> layout() const;
  /// The array in this file. Throws as io::open_array() does.
  io::ArrayFile open(const std::string& path) const;
};

/// The user's request, checked as far as possible without knowing the command.
struct Request {
  std::vector<io::ArrayFile> inputs;
  std::filesystem::path output;
  work::Options options;
  /// Whether each process of the session's team has a part of the array, and which of the index bits that
  /// select it is the lowest.
  bool parts = false;
  std::optional<int> lowest_part_bit{};

  const io::ArrayFile& input() const { return inputs.front(); }
  /// The array that the command works on: the first input or, with `parts`, the whole array of which
  /// the input is a part. Throws InputError if that is too large.
  io::ArrayDescription array() const;
};

/// What a command reads besides IN.
struct OtherFiles {
  std::vector<std::string> inputs{};          ///< the names of other inputs; the first is then called A
  const CLI::Option* several_with = nullptr;  ///< if it is given, there may be several IN
  const std::string* text = nullptr;  ///< the name of a text file, or empty; lives as long as the command
};

/// One command that reads IN and writes OUT.
class MovingCommand {
 public:
  /// Makes the work that the command does.
  using Make = std::function<std::unique_ptr<work::Work>(const Request&)>;

  /// Adds IN, OUT and the common options to the command, and calls `make` when the command is chosen.
  static void add_to(CLI::App& command, Make make, const OtherFiles& others = {});

 private:
  /// IN, OUT and what says how they look.
  void add_files(CLI::App& command, const OtherFiles& others);
  void add_parts(CLI::App& command);
  void add_resources(CLI::App& command);
  void add_reporting(CLI::App& command);
  void add_access(CLI::App& command);
  /// Puts the files in their places if there are several IN.
  void sort_files();
  work::Options options() const;
  /// The name of IN or OUT for this process: with --parts, %r becomes the rank.
  std::string own(const std::string& path) const;
  /// Throws InputError if OUT or the trace would replace a text file that the command reads.
  void check_text_files() const;
  /// Prints a note on standard error, unless the run is quiet.
  void tell_note(const std::string& note) const;
  /// Notes temporary files left behind by killed runs of a team. The output of several processes has a
  /// temporary name until it is complete: a shared file always, a part only if the file system has no
  /// nameless files. Collective.
  void tell_of_left_over() const;
  void learn_disk(Request& request, std::unique_ptr<work::Work>& work, const std::stop_token& stop) const;
  void print_plan(work::Work& work, const std::stop_token& stop) const;
  void tell_report(const work::Report& report, std::uint64_t moved) const;
  void run() const;

  Make make_;
  std::vector<std::string> inputs_;
  const CLI::Option* several_with_ = nullptr;
  const std::string* made_from_ = nullptr;
  std::string output_;
  std::vector<std::string> behind_;  // the files behind the first two, until sort_files()
  RawOptions raw_;
  std::string memory_, threads_, access_ = "auto", device_, tmpdir_, trace_, progress_ = "auto";
  std::string layout_;
  bool parts_ = false, force_ = false, dry_run_ = false, quiet_ = false, json_ = false;
};

}  // namespace xorder::cli
