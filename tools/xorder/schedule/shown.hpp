// What `xorder schedule` knows of a schedule, and how it shows it. Making one (kinds.cpp) and showing it
// (text.cpp, json.cpp, the drawings) know nothing of each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"
#include "factors.hpp"
#include "xorder/drawing/draw.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/routed.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::cli {

/// The table in which the paper prints the schedule. Rows are made one at a time.
struct ScheduleTable {
  std::string heading;
  std::string row_name;  ///< what a row is: "step", "round", "i"
  std::vector<std::string> columns;
  std::uint64_t rows = 0;
  /// One value per column: a number, a string, or null for an empty field.
  std::function<std::vector<nlohmann::json>(std::uint64_t row)> row;
};

namespace colour = drawing::colour;

using drawing::Colour;
using drawing::Mark;

/// Its `length` is not set: steps_text() is.
struct ShownSchedule : drawing::SchedulePicture {
  nlohmann::ordered_json parameters;
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();  ///< of this kind of schedule only:
                                                                    ///< rank_gamma and rounds, for example
  Factors factors;                                                  ///< of the permutation, for --factors
  /// Of --network-times; null without it.
  nlohmann::ordered_json timing;
  std::shared_ptr<const schedule::Schedule> schedule;
  /// Steps in which something is sent, where some may be idle; nothing: all.
  std::optional<std::uint64_t> busy_steps;
  ScheduleTable table;

  /// Without one there is no bound, and nothing that has to arrive.
  bool has_task = true;

  std::uint64_t steps() const { return busy_steps.value_or(schedule->steps()); }
  /// "5 steps, at least 4"
  std::string steps_text() const;

  /// If set, makes another drawing instead.
  std::function<std::string(const ShownSchedule&)> drawing;
};

/// Throws InputError unless a schedule's hypercube may have this dimension.
int checked_dimension(int dimension);
/// "NAME0", "NAME1", ..: `count` names from the number `first` on.
std::vector<std::string> numbered(const std::string& name, int count, int first = 0);
/// Shades for messages that go over 1 .. d links from source to target.
std::vector<Colour> by_distance(int d);

struct RoundsOptions {
  std::string by, matrix_file;  ///< one of them
  std::optional<int> bits;      ///< with `by`
  std::uint64_t processors = 0;
  std::string layout = "major";
  bool factors = false;  ///< show T, R, Π, W and V
  bool indices = false;  ///< show which indices each processor holds, before and after
};
ShownSchedule show_rounds(const RoundsOptions& options);
struct ExchangeOptions {
  std::optional<int> dimension;
  std::string kind = "transpose";  ///< transpose, bitreverse or one-to-all
  std::string array_file;          ///< instead of a dimension
};
ShownSchedule show_exchange(const ExchangeOptions& options);
struct FileOptions {
  std::string file;
  std::optional<schedule::Network> network;
  std::optional<std::uint64_t> slots;
  std::string task, packets;  ///< transpose or bitreverse; or a file; or neither
};
ShownSchedule show_file(const FileOptions& options);
ShownSchedule show_isotropic(const std::string& tags_file);
/// A file with a line "node slot node slot" for each packet: its source and its target.
std::vector<schedule::Packet> read_packets(const std::string& file);
/// Any task, from such a file.
ShownSchedule show_task(int dimension, const std::string& packets_file);
/// How many messages cross each dimension of a hypercube in each step. The schedule must outlive the table.
ScheduleTable crossings_table(const schedule::Schedule& schedule);
/// For schedules without a closed form on a hypercube: this table, and marks by the distance that a packet
/// goes, or by its matrix, if there are several, each with the slots before its end.
void show_by_search(ShownSchedule& shown, std::shared_ptr<const schedule::Schedule> schedule,
                    const std::vector<std::uint64_t>& ends = {});
/// Adds how it was found to the facts.
void note_search(ShownSchedule& shown, const schedule::Routed& routed);
struct BandedOptions {
  std::optional<int> dimension;
  std::vector<int> betas;  ///< one, or one for each matrix
  std::optional<std::uint64_t> bandwidth, columns, processors;
  std::optional<int> matrices;
  std::string assignment = "gray";  ///< gray, binary or affine
  std::string method = "best";      ///< best, closed or search
};
ShownSchedule show_banded(const BandedOptions& options);
ShownSchedule show_mesh(std::uint64_t size, const std::string& routing, bool torus);
/// Of ASPC, or of its slot `b` alone.
ShownSchedule show_aspc(int dimension, const std::string& half, std::optional<int> b = {});
ShownSchedule show_descend(int dimension, std::uint64_t per_node, bool ascend);

/// The routing tags in a text: a line of d characters 0 or 1 each, dimension 0 first; blanks between the
/// characters, empty lines and lines that start with # are ignored. Throws InputError naming `name` and the
/// line.
struct RoutingTags {
  std::vector<std::uint64_t> tags;
  int dimension = 0;
};
RoutingTags parse_tags(std::string_view text, const std::string& name);

/// Calls `take` with the words of each line that has any, and the line's number. What begins with # is a
/// comment.
void for_each_line_of_words(
    const std::string& text,
    const std::function<void(std::size_t line, const std::vector<std::string>& words)>& take);
/// The same with whole numbers. Throws InputError naming `name` and the line.
void for_each_line_of_numbers(
    const std::string& text, const std::string& name, int base,
    const std::function<void(std::size_t line, const std::vector<std::uint64_t>& numbers)>& take);

/// Throws InputError with the complaint, in which {} × {} are rows and columns, if the table has more
/// entries.
void check_table_size(const ShownSchedule& shown, std::uint64_t most_entries, std::string_view complaint);

using MaybeReport = std::optional<schedule::CheckReport>;
/// These print to standard output as they go, because tables can be larger than memory. Before they print
/// anything they throw InputError if the table has more than 10^7 entries (text) or 10^8 (JSON).
void print_schedule_as_text(const ShownSchedule& shown, const MaybeReport& report);
void print_schedule_as_json(const ShownSchedule& shown, const MaybeReport& report);
/// Steps down, links across, a mark for each message; for a mesh or a torus the paths of each step. Throws
/// InputError if there are too many to be seen.
std::string schedule_as_svg(const ShownSchedule& shown);
/// Replaces the table by what each node's slots hold after each step, and the drawing by a strip of pictures
/// of it. Throws InputError if that is too large to be shown.
void show_contents(ShownSchedule& shown);
/// Replaces both by the indices that each processor holds, whose number begins at bit f of an index, before
/// and after a permutation. Throws InputError if there are too many.
void show_indices(ShownSchedule& shown, const gf2::AffineMap& map, int f);
/// Replaces both by the task matrices of a node, step by step: the dimensions that the words in its slots
/// have still to cross. Throws InputError if it is no task on a hypercube, or too large to be shown.
void show_task_matrices(ShownSchedule& shown, schedule::Node node);
/// Every message as a line of JSON, {"step": s, "from": [node, slot], "to": [node, slot], "path": [node,
/// ..]}, by step, and after those of a step its updates, {"step": s, "update": [node, slot], "plus": [node,
/// slot], "minus": [node, slot], "b": b}. Throws InputError if there are more than 2^21 of either.
std::string messages_as_json_lines(const schedule::Schedule& schedule);

}  // namespace xorder::cli
