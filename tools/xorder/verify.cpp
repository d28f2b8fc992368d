// The command `xorder verify`: the commands that permute, with an OUT that exists. Tells whether it is right.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "io/format/known_formats.hpp"
#include "io/format/text_file.hpp"
#include "io/memory.hpp"
#include "option_groups.hpp"
#include "progress_bar.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/json_text.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/verify/checksum.hpp"
#include "xorder/verify/verify.hpp"

namespace xorder::cli {
namespace {

void print_json(std::uint64_t bytes, nlohmann::json differences, double seconds) {
  const bool equal = differences.empty();
  fmt::print("{}\n", json_text(nlohmann::json{{"bytes", bytes},
                                              {"differences", std::move(differences)},
                                              {"equal", equal},
                                              {"peak_memory", io::peak_resident_memory()},
                                              {"seconds", seconds}}));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// OUT, if it says itself what it holds.
std::optional<io::ArrayFile> described(const std::string& path) {
  const io::KnownFormat* const named = io::format_of_name(path);
  if (named != nullptr && named->written_as == io::Format::raw) return {};
  try {
    return io::open_array(path, {});
  } catch (const io::LayoutError&) {
    if (named != nullptr) throw;
    return {};
  }
}

class Verifier final : public Engine {
 public:
  void add_frame(CLI::App& command, MovingCommand::Make make, const OtherFiles& others) override {
    OtherFiles files = others;
    files.checks = true;
    files_.add_to(command, files);
    add_parsed(command, "--memory", "SIZE", options_.memory, parse_memory,
               "memory to use; default: half of what is available")
        ->group(group::resources);
    add_parsed(command, "--threads", "N", options_.threads, parse_threads,
               "threads that compare; default: one per processor")
        ->group(group::tuning);
    command.option_defaults()->group(group::reporting);
    command.add_flag("--json", reporting_.json, "print the result as one JSON object");
    command.add_flag("-q,--quiet", reporting_.quiet, "print nothing unless OUT differs or something fails");
    command.callback([this, make = std::move(make)] {
      files_.sort();
      run(make);
    });
  }

 private:
  // What is asked for, as OUT stores it.
  struct Task {
    Reordering what;
    std::vector<std::uint64_t> extents;
    Order order = Order::c;
  };

  // There is no work to be made: remembers the task.
  std::unique_ptr<work::Work> reordering(const Request& request, const Reordering& what,
                                         std::vector<std::uint64_t> extents) const override {
    task_ = {what, std::move(extents), request.options.output_order};
    return nullptr;
  }
  std::unique_ptr<work::Work> bands(const Request&, const std::vector<Band>&) const override {
    throw InputError(
        "--banded: xorder verify checks reorderings, and a band's transposition also makes zeros");
  }

  // OUT as the task wants it.
  io::ArrayFile result(std::optional<io::ArrayFile> out, const io::DType& dtype) const {
    if (!out) return io::open_raw_array(files_.written(), {dtype, task_.extents, 0, {}, task_.order});
    verify::check_result(*out, dtype, task_.extents, task_.order);
    return *std::move(out);
  }

  void run(const MovingCommand::Make& make) const {
    const auto begin = std::chrono::steady_clock::now();
    const Interrupt interrupt;
    Request request{files_.open(), files_.output(), {}, false, {}, files_.joining()};
    std::optional<io::ArrayFile> out = described(files_.written());
    if (out) request.options.output_order = out->description.order();
    make(request);
    const io::ArrayFile checked = result(std::move(out), request.input().description.dtype);
    std::vector<verify::Difference> differences;
    {
      ProgressBar bar(reporting_.shows_bar());
      differences = verify::compare(
          request.inputs, task_.what, checked, options_, [&](const work::Progress& p) { bar.show(p); },
          interrupt.token());
    }
    const std::uint64_t bytes = task_.what.bytes();
    const double seconds = seconds_since(begin);
    if (reporting_.json) {
      nlohmann::json list = nlohmann::json::array();
      for (const verify::Difference& d : differences)
        list.push_back({{"first_byte", d.first_byte},
                        {"end_byte", d.end_byte},
                        {"first_element", d.first_element},
                        {"end_element", d.end_element}});
      print_json(bytes, std::move(list), seconds);
    }
    if (!differences.empty()) throw Error(verify::text(files_.written(), differences));
    if (!reporting_.json && !reporting_.quiet)
      tell("{}: is right, {} compared in {:.2f} s\n", on_one_line(files_.written()), size_text(bytes),
           seconds);
  }

  MovingFiles files_;
  verify::Options options_;
  Reporting reporting_;
  mutable Task task_;
};

// Without a command: whether OUT is what it was when its checksum was made.
class DecayFinder {
 public:
  void add_to(CLI::App& verify) {
    verify.add_option("OUT", words_, "the file to check, if no command is given")->type_name("");
    verify.option_defaults()->group(group::reporting);
    verify.add_option("--checksum", kept_, "what --checksum wrote when OUT was made")->type_name("FILE");
    verify.add_flag("--json", reporting_.json, "print the result as one JSON object");
    verify.add_flag("-q,--quiet", reporting_.quiet, "print nothing unless OUT differs or something fails");
  }

  void run() const {
    if (words_.size() != 1 || kept_.empty()) {
      const std::string known = "transpose, bitreverse, permute, or OUT and --checksum FILE";
      throw InputError(
          words_.empty() ? "expected one of " + known
                         : fmt::format("'{}' is not a command; the commands are: {}", words_.front(), known));
    }
    const std::string& output = words_.front();
    const auto begin = std::chrono::steady_clock::now();
    const Interrupt interrupt;
    constexpr std::uint64_t largest = std::uint64_t{1} << 30;  // of 32 TiB
    const verify::Checksum then = verify::parse_checksum(io::read_text(kept_, largest), kept_);
    verify::Checksum now;
    {
      ProgressBar bar(reporting_.shows_bar());
      now = verify::checksum(
          output, {}, [&](const work::Progress& p) { bar.show(p); }, interrupt.token());
    }
    const auto differences = then.differences(now);
    const double seconds = seconds_since(begin);
    if (reporting_.json) {
      nlohmann::json list = nlohmann::json::array();
      for (const auto& [first, end] : differences) list.push_back({{"first_byte", first}, {"end_byte", end}});
      print_json(now.bytes, std::move(list), seconds);
    }
    if (then.bytes != now.bytes)
      throw Error(fmt::format("{}: has {} bytes; it had {}", output, now.bytes, then.bytes));
    if (!differences.empty()) {
      std::string more;
      if (differences.size() > 1)
        more = fmt::format(", and so in {}, the last of which ends at byte {}",
                           count_text(differences.size() - 1, "more place"), differences.back().second - 1);
      throw Error(fmt::format("{}: bytes {} to {} are not what they were{}", output,
                              differences.front().first, differences.front().second - 1, more));
    }
    if (!reporting_.json && !reporting_.quiet)
      tell("{}: is what it was, {} read in {:.2f} s\n", on_one_line(output), size_text(now.bytes), seconds);
  }

 private:
  std::vector<std::string> words_;  // OUT
  std::string kept_;
  Reporting reporting_;
};

}  // namespace

void add_verify(CLI::App& program) {
  CLI::App* verify = program.add_subcommand(
      "verify", "tell whether a file holds what transpose, bitreverse or permute makes of another");
  verify->footer(
      "Put verify in front of a command, whoever has made its OUT. Both files are read once, past the page\n"
      "cache where that is possible. Exit codes: 0 equal, 1 different or failed, 2 refused, as if types or\n"
      "shapes do not fit. An .npy OUT may be in Fortran order. The command may also stand behind the files:\n"
      "xorder verify a.npy b.npy transpose --axes 1,0. Without a command, OUT is compared with the checksum\n"
      "that was made with it: xorder verify b.npy --checksum b.sums.");
  verify->require_subcommand(0, 1);
  const auto finder = std::make_shared<DecayFinder>();
  finder->add_to(*verify);
  verify->callback([finder, verify] {
    if (verify->get_subcommands().empty()) finder->run();
  });
  add_transpose(*verify, std::make_shared<Verifier>())
      ->footer(
          "Examples:\n"
          "  xorder verify transpose a.npy b.npy                          is b.npy a.npy transposed?\n"
          "  xorder verify transpose video.npy planes.npy --axes 3,0,1,2");
  add_bitreverse(*verify, std::make_shared<Verifier>())
      ->footer(
          "Examples:\n"
          "  xorder verify bitreverse signal.npy reversed.npy\n"
          "  xorder verify bitreverse signal.raw reversed.raw --dtype c16");
  add_permute(*verify, std::make_shared<Verifier>())
      ->footer(
          "EXPR is explained by xorder permute --help.\n"
          "Examples:\n"
          "  xorder verify permute a.npy z.npy --by 'morton(2)'\n"
          "  xorder verify permute a.npy b.npy --by reverse --axis 1");
}

}  // namespace xorder::cli
