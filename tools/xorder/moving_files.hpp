// IN, OUT, and the options that say how they look.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "work/joined.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/io/array_view.hpp"

namespace xorder::cli {

/// What IN holds, and which array of it is meant.
class ArrayOptions {
 public:
  void add_to(CLI::App& command);
  /// Whether the user has given any of the options.
  bool given() const {
    return layout_ || shape_ || ignore_rest_ || !field_.empty() || selection_ || byte_order_;
  }
  /// The array in this file: opened, then its field, its shape, the selection and the byte order of its
  /// numbers. Throws as io::open_array() and the views of io/array_view.hpp do.
  io::ArrayFile open(const std::string& path) const;

 private:
  io::ArrayFile opened(const std::string& path) const;

  std::optional<io::RawLayout> layout_;  // what is only said of raw files
  std::optional<RawShape> shape_;
  bool ignore_rest_ = false;
  std::string field_;
  std::optional<std::vector<io::Index>> selection_;
  std::optional<io::ByteOrder> byte_order_;
};

/// What a command reads besides IN.
struct OtherFiles {
  std::vector<std::string> inputs{};          ///< the names of other inputs; the first is then called A
  const CLI::Option* several_with = nullptr;  ///< if it is given, there may be several IN
  /// Names of text files, or empty; they live as long as the command.
  std::vector<const std::string*> texts{};
  bool joins = false;     ///< several IN may be one array
  bool checks = false;    ///< OUT is read
  bool in_place = false;  ///< IN itself may be reordered, without OUT
};

/// Each file of many takes a few descriptors. Raises the limit to what the system allows.
void allow_many_files();

class MovingFiles {
 public:
  void add_to(CLI::App& command, const OtherFiles& others);
  /// Puts the files in their places if there are several IN, and reads the list of others. To be called when
  /// the line has been parsed.
  void sort();

  /// The same if IN is reordered in place: it is OUT. Throws InputError if there are others.
  void use_input_as_output();

  std::vector<io::ArrayFile> open() const;
  /// OUT, as the user wrote it, but without NAME.
  const std::string& written() const { return output_; }
  /// NAME of an OUT that is FILE:NAME; or empty.
  const std::string& dataset() const { return dataset_; }
  /// OUT of this process.
  std::string output() const { return own(output_); }
  /// Several IN are one array, as by numpy.stack or numpy.concatenate.
  const std::optional<work::Joining>& joining() const { return joining_; }
  /// Whether each process has a part of the array, and which of the index bits that select it is the lowest.
  bool parts() const { return parts_; }
  std::optional<int> lowest_part_bit() const { return lowest_part_bit_; }

  /// Throws InputError if OUT or `other`, unless that is empty, would replace a text file that the command
  /// reads: those of OtherFiles, or `profile`, unless that is empty.
  void check_text_files(const std::string& other, const std::string& profile) const;
  /// Notes of temporary files left behind by killed runs. An output has a temporary name while it replaces
  /// another, on file systems without nameless files, and if several processes write it. Collective in a
  /// team.
  std::vector<std::string> left_over() const;

 private:
  void add_joining(CLI::App& command, CLI::Option* in, CLI::Option* out);
  void read_list();
  /// The name of IN or OUT for this process: with --parts, %r becomes the rank.
  std::string own(const std::string& path) const;

  std::vector<std::string> inputs_;
  std::string output_, dataset_;
  std::optional<work::Joining> joining_;
  std::string list_;                 // a file with names of inputs, or empty
  std::vector<std::string> behind_;  // the files behind the first two, until sort()
  OtherFiles others_;
  ArrayOptions array_;
  bool parts_ = false;
  std::optional<int> lowest_part_bit_;
};

}  // namespace xorder::cli
