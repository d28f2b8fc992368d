// IN, OUT, and the options that say how they look.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"

namespace xorder::cli {

/// --dtype, --shape and --offset.
class RawOptions {
 public:
  void add_to(CLI::App& command);
  /// The array in this file. Throws as io::open_array() does.
  io::ArrayFile open(const std::string& path) const;

 private:
  std::optional<io::RawLayout> layout_;
};

/// What a command reads besides IN.
struct OtherFiles {
  std::vector<std::string> inputs{};          ///< the names of other inputs; the first is then called A
  const CLI::Option* several_with = nullptr;  ///< if it is given, there may be several IN
  const std::string* text = nullptr;  ///< the name of a text file, or empty; lives as long as the command
};

class MovingFiles {
 public:
  void add_to(CLI::App& command, const OtherFiles& others);
  /// Puts the files in their places if there are several IN. To be called when the line has been parsed.
  void sort();

  std::vector<io::ArrayFile> open() const;
  /// OUT, as the user wrote it.
  const std::string& written() const { return output_; }
  /// OUT of this process.
  std::string output() const { return own(output_); }
  /// Whether each process has a part of the array, and which of the index bits that select it is the lowest.
  bool parts() const { return parts_; }
  std::optional<int> lowest_part_bit() const { return lowest_part_bit_; }

  /// Throws InputError if OUT or `other`, unless that is empty, would replace a text file that the command
  /// reads: that of OtherFiles, or `profile`, unless that is empty.
  void check_text_files(const std::string& other, const std::string& profile) const;
  /// Notes of temporary files left behind by killed runs. An output has a temporary name while it replaces
  /// another, on file systems without nameless files, and if several processes write it. Collective in a
  /// team.
  std::vector<std::string> left_over() const;

 private:
  /// The name of IN or OUT for this process: with --parts, %r becomes the rank.
  std::string own(const std::string& path) const;

  std::vector<std::string> inputs_;
  std::string output_;
  std::vector<std::string> behind_;  // the files behind the first two, until sort()
  OtherFiles others_;
  RawOptions raw_;
  bool parts_ = false;
  std::optional<int> lowest_part_bit_;
};

}  // namespace xorder::cli
