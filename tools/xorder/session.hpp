// Which program this is, and its team: set by main() before it creates the commands. And what it has made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "work/team.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/tiles/in_place.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

struct Session {
  std::string program = "xorder";
  work::Team* team = nullptr;  ///< null: alone

  /// Makes the work if each process of the team has a part of the array. Takes this process's part, what to
  /// do with the whole array, and the shape of the whole result; the rest is as for parts::Job. Empty: this
  /// program cannot do that.
  std::function<std::unique_ptr<work::Work>(io::ArrayFile part, const Reordering& what,
                                            std::vector<std::uint64_t> extents, std::filesystem::path output,
                                            work::Options options, std::optional<int> lowest_part_bit)>
      work_on_parts;

  /// The words of a command line that main() performs when the command has ended.
  std::vector<std::string> next;
  /// What a command with --in-place does.
  InPlace in_place = InPlace::begin;

  /// The files that the command has made: they stay even if what is left to do fails.
  std::vector<std::string> made;

  /// Whether this process is the one that talks to the user.
  bool speaks() const { return team == nullptr || team->is_first(); }
};
Session& session();

}  // namespace xorder::cli
