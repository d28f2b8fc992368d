#include "moving_files.hpp"

#include <fmt/format.h>

#include <ranges>
#include <utility>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "invocation.hpp"
#include "io/output.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

void RawOptions::add_to(CLI::App& command) {
  command.option_defaults()->group(group::input);
  const auto add = [&](const char* name, const char* type, const char* description, auto set) {
    const auto read = [this, set](const std::string& text) {
      set(layout_ ? *layout_ : layout_.emplace(), text);
    };
    command.add_option_function<std::string>(name, read, description)->type_name(type);
  };
  add("--dtype", "TYPE",
      "element type of a raw file, as NumPy writes it: f8, u1, >i4, c16, V24, float64, uint8, ..",
      [](io::RawLayout& layout, const std::string& text) { layout.dtype = io::parse_dtype(text); });
  add("--shape", "R,C,..",
      "extents of a raw file, slowest axis first, as 12,7 or 12x7; one may be -1: it follows from the file's "
      "size; (): one element; default: one axis",
      [](io::RawLayout& layout, const std::string& text) {
        RawShape shape = parse_shape(text, "--shape");
        layout.extents = std::move(shape.extents);
        layout.inferred_axis = shape.inferred_axis;
      });
  add("--offset", "BYTES", "where the data of a raw file begins",
      [](io::RawLayout& layout, const std::string& text) { layout.offset = parse_offset(text, "--offset"); });
}

io::ArrayFile RawOptions::open(const std::string& path) const {
  try {
    return io::open_array(path, layout_);
  } catch (const io::LayoutError& e) {
    throw InputError(fmt::format("{} (--dtype, --shape, --offset)", e.what()));
  }
}

void MovingFiles::add_to(CLI::App& command, const OtherFiles& others) {
  others_ = others;
  const CLI::Option* const several = others.several_with;
  inputs_.resize(1 + others.inputs.size());
  command
      .add_option(several != nullptr      ? "IN.."
                  : others.inputs.empty() ? "IN"
                                          : "A",
                  inputs_[0],
                  several == nullptr
                      ? "the file to read: .npy, or raw with --dtype"
                      : fmt::format("the file to read, or with {} several: .npy, or raw with --dtype",
                                    several->get_name()))
      ->required();
  for (std::size_t i = 0; i < others.inputs.size(); ++i) {
    command.add_option(others.inputs[i], inputs_[i + 1], "another file of the same type and shape")
        ->required();
  }
  command
      .add_option("OUT", output_,
                  "the file to create: .npy, or raw (.raw, .bin, .dat), or else in the input's format; the "
                  "suffixes of other formats (.h5, .npz, ..) are refused")
      ->required();
  if (several != nullptr) command.add_option("behind", behind_)->group("");  // see sort()
  raw_.add_to(command);
  if (!session().work_on_parts) return;
  CLI::Option* const parts =
      command.add_flag("--parts", parts_,
                       "each process has a part of the array; %r in IN and OUT is its rank; parts follow "
                       "each other along the slowest axis; 2^k processes, extents 2^n");
  add_layout(command, lowest_part_bit_, "with --parts: ", "its rank")->needs(parts);
}

// CLI11 cannot have IN.. before OUT: it calls the first two files IN and OUT, however many there are.
void MovingFiles::sort() {
  if (!behind_.empty() && others_.several_with->count() == 0) {
    std::vector<std::string> files = behind_;
    files.insert(files.end(), {inputs_.front(), output_});
    const std::string counted = fmt::format(
        "{} files are named, but a run makes one OUT from one IN; only band matrices may lie in several IN "
        "({})",
        files.size(), others_.several_with->get_name());
    throw CLI::ParseError(complaint_of_number(files).value_or(counted), CLI::ExitCodes::ExtrasError);
  }
  for (std::string& file : behind_) inputs_.push_back(std::exchange(output_, std::move(file)));
  behind_.clear();
}

std::vector<io::ArrayFile> MovingFiles::open() const {
  std::vector<io::ArrayFile> files;
  for (const std::string& path : inputs_) files.push_back(raw_.open(own(path)));
  return files;
}

std::string MovingFiles::own(const std::string& path) const {
  if (!parts_) return path;
  constexpr std::string_view mark = "%r";
  if (path.find(mark) == std::string::npos)
    throw InputError(fmt::format(
        "{}: with --parts the name must contain %r, which stands for the rank, as in part.%r.npy", path));
  std::string name = path;
  const std::string rank = std::to_string(session().team->rank());
  for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark, at + rank.size()))
    name.replace(at, mark.size(), rank);
  return name;
}

void MovingFiles::check_text_files(const std::string& other, const std::string& profile) const {
  for (const std::string& made : {output(), other}) {
    if (made.empty()) continue;
    if (!profile.empty()) require_not_read(made, profile);
    if (others_.text != nullptr && !others_.text->empty()) require_not_read(made, *others_.text);
  }
}

std::vector<std::string> MovingFiles::left_over() const {
  work::Team* const team = session().team;
  const std::string made = output();
  std::string mine;
  if (parts_ || session().speaks()) {
    for (const auto& file : io::left_over(made)) {
      mine += fmt::format("{}{} is left by a killed run, or by one still writing {}; to remove it: rm {}",
                          parts_ ? fmt::format("rank {}: ", team->rank()) : "", file.string(), made,
                          quoted_for_shell(file.string()));
      mine += '\0';
    }
  }
  std::vector<std::string> all;
  for (const std::string& notes :
       team != nullptr ? team->share(std::move(mine)) : std::vector<std::string>{std::move(mine)}) {
    for (const auto note : std::views::split(notes, '\0')) {
      if (!note.empty()) all.emplace_back(note.begin(), note.end());
    }
  }
  return all;
}

}  // namespace xorder::cli
