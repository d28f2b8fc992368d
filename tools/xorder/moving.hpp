// Shared by the commands that move data from IN to OUT.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "moving_files.hpp"
#include "reporting.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

/// OUT is complete, but its trace or checksum is lost. Exit code 3.
class ReportLost : public Error {
 public:
  using Error::Error;
};

/// The user's request, checked as far as possible without knowing the command.
struct Request {
  std::vector<io::ArrayFile> inputs;
  std::filesystem::path output;
  work::Options options;
  /// As in MovingFiles.
  bool parts = false;
  std::optional<int> lowest_part_bit{};
  std::optional<work::Joining> joining{};
  bool in_place = false;

  const io::ArrayFile& input() const { return inputs.front(); }
  /// The array that the command works on: the first input; with `joining`, all of them as one array, of
  /// which only the type and the shape mean anything; with `parts`, the whole array of which the input is a
  /// part. Throws InputError if that is too large, or if the inputs do not fit together.
  io::ArrayDescription array() const;

  // Do what the functions of these names (permutation/reordering.hpp) do, for that array.
  Reordering transposition(std::span<const int> axes) const;
  Reordering mapping_along(int axis, const gf2::AffineMap& map) const;
  Reordering mapping_of_all(const gf2::AffineMap& map) const;
};

/// Runs the work with a progress bar. If it fails, tells what can go on. `output` is as the user wrote it.
work::Report run_with_bar(work::Work& work, const Reporting& reporting, const std::string& output,
                          const std::stop_token& stop);

/// One command that reads IN and writes OUT.
class MovingCommand {
 public:
  /// Makes the work that the command does.
  using Make = std::function<std::unique_ptr<work::Work>(const Request&)>;

  /// Adds IN, OUT and the common options to the command, and calls `make` when the command is chosen.
  static void add_to(CLI::App& command, Make make, const OtherFiles& others = {});

 private:
  void add_resources(CLI::App& command);
  void add_in_place(CLI::App& command);
  void check_in_place(const CLI::App& command) const;
  void learn_disk(Request& request, std::unique_ptr<work::Work>& work, const std::stop_token& stop) const;
  void run() const;
  void keep_checksum(TextFile& kept, const std::string& output, const std::stop_token& stop) const;

  Make make_;
  MovingFiles files_;
  work::Options settings_;
  std::string profile_;  // the file that --device names, or empty
  bool in_place_ = false;
  std::uint64_t bandwidth_ = 0;  // of --bwlimit, in bytes per second; 0: as fast as it goes
  std::string checksum_;         // the file of --checksum, or empty
  Reporting reporting_;
};

}  // namespace xorder::cli
