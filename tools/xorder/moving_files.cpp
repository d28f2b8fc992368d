#include "moving_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <ranges>
#include <utility>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "invocation.hpp"
#include "io/container/container.hpp"
#include "io/format/text_file.hpp"
#include "io/output.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "text/count_text.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

// The soft limit is for programs that use select().
void allow_many_files() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void ArrayOptions::add_to(CLI::App& command) {
  command.option_defaults()->group(group::input);
  const auto add = [&](const char* name, const char* type, const char* description, auto set) {
    const auto read = [this, set](const std::string& text) {
      set(layout_ ? *layout_ : layout_.emplace(), text);
    };
    command.add_option_function<std::string>(name, read, description)->type_name(type);
  };
  add("--dtype", "TYPE", "type of a raw file, as NumPy writes it: f8, u1, >i4, c16, V24, float64, ..",
      [](io::RawLayout& layout, const std::string& text) { layout.dtype = io::parse_dtype(text); });
  add_parsed(command, "--shape", "R,C,..", shape_, parse_shape,
             "extents, slowest axis first, as 12,7 or 12x7; one may be -1; (): one element; default: one "
             "axis; of an .npy file: a reshape, order 'A'");
  add("--offset", "BYTES", "where the data of a raw file begins",
      [](io::RawLayout& layout, const std::string& text) { layout.offset = parse_offset(text, "--offset"); });

  command.option_defaults()->group(group::view);
  add("--order", "C|F",
      "of a raw file: C has the last axis fastest, F (Fortran, column-major) the first; default: C",
      [](io::RawLayout& layout, const std::string& text) { layout.order = parse_order(text, "--order"); });
  add("--strides", "BYTES,..",
      "of a raw file: bytes from one element to the next along each axis, as in numpy.ndarray; negative ones "
      "go backwards",
      [](io::RawLayout& layout, const std::string& text) {
        layout.strides = parse_strides(text, "--strides");
      });
  command.add_flag("--ignore-rest", ignore_rest_, "a raw file may go on behind the array");
  command
      .add_option("--field", field_, "a field of a structured type: NAME, nested A.B, or several A,B, packed")
      ->type_name("NAME");
  add_parsed(command, "--select", "INDICES", selection_, parse_indices,
             "a part of the array, as between brackets in NumPy: '10:200, ::-1, 3, ...'");
  add_choice<std::optional<io::ByteOrder>>(
      command, "--byte-order", byte_order_,
      {{"little", io::ByteOrder::little}, {"big", io::ByteOrder::big}, {"native", io::ByteOrder::native}},
      "of the numbers in OUT; default: as in IN");
}

// The shape belongs to what is said of a raw file. An .npy file has its own, which is reshaped.
io::ArrayFile ArrayOptions::opened(const std::string& path) const {
  if (!layout_) return io::open_array(path, {});
  io::RawLayout raw = *layout_;
  raw.ignore_rest = ignore_rest_;
  if (shape_) raw.extents = shape_->extents, raw.inferred_axis = shape_->inferred_axis;
  return io::open_array(path, raw);
}

io::ArrayFile ArrayOptions::open(const std::string& path) const {
  const char* option = nullptr;  // whose view is being made
  try {
    io::ArrayFile file = opened(path);
    io::ArrayDescription& array = file.description;
    if (option = "--field"; !field_.empty()) array = io::field_of(array, field_);
    if (option = "--shape"; shape_ && !layout_)
      array = io::reshaped(array, shape_->extents, shape_->inferred_axis);
    if (option = "--select"; selection_) array = io::selected(array, *selection_);
    if (option = "--byte-order"; byte_order_) array = io::in_byte_order(array, *byte_order_);
    const auto drops = [](const io::Index& index) { return index.kind == io::Index::Kind::integer; };
    if (shape_ || (selection_ && std::ranges::any_of(*selection_, drops))) file.axis_names.clear();
    return file;
  } catch (const io::LayoutError& e) {
    throw InputError(
        fmt::format("{} (--dtype, {}--offset)", e.what(), layout_ ? "--order, --strides, " : "--shape, "));
  } catch (const io::RestError& e) {
    throw InputError(fmt::format("{} (--ignore-rest allows that)", e.what()));
  } catch (const InputError& e) {
    if (option == nullptr) throw;
    throw InputError(fmt::format("{}: {}: {}", path, option, e.what()));
  }
}

void MovingFiles::add_to(CLI::App& command, const OtherFiles& others) {
  others_ = others;
  others_.joins &= !session().work_on_parts;
  const bool several = others.several_with != nullptr || others_.joins;
  inputs_.resize(1 + others.inputs.size());
  CLI::Option* const in =
      command
          .add_option(several                 ? "IN.."
                      : others.inputs.empty() ? "IN"
                                              : "A",
                      inputs_[0],
                      others_.joins ? "the file to read, or with --stack, .. several: .npy, FITS, .., or raw"
                                    : "the file to read: .npy, FITS, .. (FILE:NAME), or raw with --dtype")
          ->required();
  for (std::size_t i = 0; i < others.inputs.size(); ++i) {
    command.add_option(others.inputs[i], inputs_[i + 1], "another file of the same type and shape")
        ->required();
  }
  CLI::Option* const out =
      command
          .add_option("OUT", output_,
                      others.checks
                          ? "the file to check: .npy, FITS, .. (FILE:NAME), or raw (.raw, .bin, .dat)"
                          : "file to create: .npy, raw (.raw, .bin, .dat), HDF5 (A.h5:NAME); else raw if "
                            "IN is raw or ENVI, or .npy; suffixes of other formats are refused")
          ->required();
  if (several) command.add_option("behind", behind_)->group("");  // see sort()
  array_.add_to(command);
  if (others_.joins) add_joining(command, in, out);
  command.option_defaults()->group(group::input);
  if (!session().work_on_parts) return;
  CLI::Option* const parts =
      command.add_flag("--parts", parts_,
                       "each process has a part of the array; %r in IN and OUT is its rank; parts follow "
                       "each other along the slowest axis; 2^k processes, extents 2^n");
  add_layout(command, lowest_part_bit_, "with --parts: ", "its rank")->needs(parts);
}

void MovingFiles::add_joining(CLI::App& command, CLI::Option* in, CLI::Option* out) {
  command.option_defaults()->group(group::view);
  const auto add = [&](const char* name, bool stacked, const char* description) {
    const auto read = [this, name, stacked](const std::string& text) {
      joining_ = work::Joining{stacked, parse_int(text, name), name};
    };
    return command.add_option_function<std::string>(name, read, description)->type_name("K");
  };
  CLI::Option* const stack = add("--stack", true, "several IN are one array, counted by a new axis K");
  CLI::Option* const concatenate =
      add("--concatenate", false, "several IN are one array, joined along axis K");
  stack->excludes(concatenate);
  // Then OUT may be the only file on the line.
  const auto listed = [this, in, out](const std::string& name) {
    list_ = name;
    in->required(false);
    out->required(false);
  };
  command
      .add_option_function<std::string>("--files-from", listed,
                                        "names of IN, or of more of them, one in each line of LIST")
      ->type_name("LIST");
}

// The order is that on the line, then that in the list.
void MovingFiles::read_list() {
  std::vector<std::string> files{inputs_.front(), output_};
  files.insert(files.end(), behind_.begin(), behind_.end());
  std::erase(files, "");
  if (files.empty()) throw CLI::RequiredError("OUT");
  output_ = files.back();
  files.pop_back();
  constexpr std::uint64_t largest_list = std::uint64_t{64} << 20;
  const std::string text = io::read_text(list_, largest_list);
  for (const auto line : std::views::split(text, '\n')) {
    std::string_view name(line.begin(), line.end());
    if (name.ends_with('\r')) name.remove_suffix(1);
    if (name.find('\0') != name.npos)
      throw InputError(list_ + ": is not a list of files: it has a zero byte");
    if (!name.empty()) files.emplace_back(name);
  }
  if (files.empty()) throw InputError(list_ + ": names no file");
  inputs_ = std::move(files);
  behind_.clear();
}

// CLI11 cannot have IN.. before OUT: it calls the first two files IN and OUT, however many there are.
void MovingFiles::sort() {
  if (!list_.empty()) read_list();
  const bool several = joining_ || (others_.several_with != nullptr && others_.several_with->count() > 0);
  if (inputs_.size() > 1 && others_.inputs.empty() && !several)
    throw InputError(
        fmt::format("{}: names several files; --stack or --concatenate makes them one array", list_));
  if (!behind_.empty() && !several) {
    std::vector<std::string> files{inputs_.front(), output_};
    files.insert(files.end(), behind_.begin(), behind_.end());
    std::string counted = fmt::format("{} files are named ({}), but a run makes one OUT from one IN",
                                      files.size(), fmt::join(files, ", "));
    if (others_.joins) counted += "; with --stack or --concatenate several IN are one array";
    if (others_.several_with != nullptr) counted += "; with --banded they hold several band matrices";
    throw CLI::ParseError(complaint_of_number(files).value_or(counted), CLI::ExitCodes::ExtrasError);
  }
  for (std::string& file : behind_) inputs_.push_back(std::exchange(output_, std::move(file)));
  behind_.clear();
  if (others_.checks) return;  // FILE:NAME is an array that exists
  auto [file, name] = io::output_file_and_name(output_);
  output_ = file.string();
  dataset_ = name.value_or("");
}

void MovingFiles::use_input_as_output() {
  if (!output_.empty())
    throw InputError(fmt::format("{}: not with --in-place, which needs the name of one file only", output_));
  output_ = inputs_.front();
}

std::vector<io::ArrayFile> MovingFiles::open() const {
  if (inputs_.size() > 1) allow_many_files();
  std::vector<io::ArrayFile> files;
  for (const std::string& path : inputs_) files.push_back(array_.open(own(path)));
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
    if (!list_.empty()) require_not_read(made, list_);
    for (const std::string* text : others_.texts)
      if (!text->empty()) require_not_read(made, *text);
  }
}

std::vector<std::string> MovingFiles::left_over() const {
  work::Team* const team = session().team;
  const std::string made = output();
  std::string mine;
  if (parts_ || session().speaks()) {
    const auto files = io::left_over(made);
    constexpr std::size_t most_named = 8;  // of thousands, as --split makes them, one
    for (const auto& file : files) {
      if (files.size() > most_named) {
        const std::string name = file.string(), alike = name.substr(0, name.rfind(".xorder-") + 8);
        mine = fmt::format(
            "{} and {} are left by killed runs, or by one still writing {}; to remove them: "
            "rm {}*",
            name, count_text(files.size() - 1, "file") + " like it", made, quoted_for_shell(alike));
        break;
      }
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
