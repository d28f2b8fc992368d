// The command line: parses, runs a subcommand, and turns every failure into one line and an exit code.
//   0    done
//   1    failed while running
//   2    bad input, nothing was touched
//   3    the files are complete, but the report or trace is lost
// An interrupted run is terminated by the signal, which shells report as 128 + its number.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "help_formatter.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "session.hpp"
#include "standard_streams.hpp"

namespace {

using namespace xorder::cli;

// CLI11 takes the words in reverse order. `xorder help COMMAND` is `xorder COMMAND --help`, if there is such
// a command, and `xorder verify IN OUT COMMAND` is `xorder verify COMMAND IN OUT`.
std::vector<std::string> reversed_words(const CLI::App& program, std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    const auto commands = program.get_subcommands({});
    if (words.empty() || std::ranges::find(commands, words.front(), &CLI::App::get_name) != commands.end())
      words.emplace_back("--help");
  }
  if (words.size() > 2 && words.front() == "verify") {
    const auto commands = program.get_subcommand("verify")->get_subcommands({});
    const auto command = std::find_first_of(
        words.begin() + 1, words.end(), commands.begin(), commands.end(),
        [](const std::string& word, const CLI::App* known) { return word == known->get_name(); });
    if (command != words.end()) std::rotate(words.begin() + 1, command, command + 1);
  }
  std::ranges::reverse(words);
  return words;
}

struct Command {
  std::string_view names;  // that it adds
  void (*add)(CLI::App& program);
};
constexpr Command commands[] = {
    {"transpose", [](CLI::App& program) { add_transpose(program); }},
    {"bitreverse", [](CLI::App& program) { add_bitreverse(program); }},
    {"permute", [](CLI::App& program) { add_permute(program); }},
    {"verify", add_verify},
    {"show", add_show},
    {"info", add_info},
    {"schedule", add_schedule},
    {"descend", [](CLI::App& program) { add_descend_command(program); }},
    {"machine", add_machine},
    {"resume rollback status discard", add_resume},
    {"report", add_report},
    {"bench", add_bench},
};

// Adds the command of that name, or all if there is none. The options of all take a third of a launch.
void add_command(CLI::App& program, std::string_view name) {
  const auto named = [&](const Command& command) {
    return std::ranges::any_of(std::views::split(command.names, ' '),
                               [&](auto word) { return std::ranges::equal(word, name); });
  };
  const Command* const found = std::ranges::find_if(commands, named);
  if (found != std::end(commands)) return found->add(program);
  for (const Command& command : commands) command.add(program);
}

Failure perform(const std::vector<std::string>& words) {
  CLI::App program{
      "xorder reorders files that do not fit in memory: transpositions, bit reversals and every other\n"
      "permutation y = A x ^ c of the bits of an index, from file to file, at the speed of the disk.",
      "xorder"};
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "Exit codes: 0 done, 1 failed, 2 refused before anything was touched, 3 output\n"
      "complete, report or trace lost. An interrupted run is terminated by the signal, which shells\n"
      "report as 128 + its number: 130 for ctrl-C.\n"
      "Sizes: 2GiB, 512M (powers of 1024) or 2GB (of 1000).\n"
      "xorder help COMMAND does the same as xorder COMMAND --help.");
  add_command(program, words.empty() ? "" : words.front());
  complete(program);
  if (words.size() > 1 && words.front() == "__complete") {
    for (const std::string& found : completions(program, std::span(words).subspan(1)))
      fmt::print("{}\n", found);
    return flushed();
  }
  try {
    program.parse(reversed_words(program, words));
    return flushed();
  } catch (...) {
    return failure(program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  install_end_in_order();
  occupy_closed_streams();
  remember_invocation({argv + std::min(argc, 1), argv + argc});
  if (const Failure failure = too_little_stack(); failure.exit_code != 0) return complain(failure);
  install_fault_handler();
  // A file that grows too large is an error, and so is a pipe that nobody reads, not a reason to die.
  for (const int signal : {SIGXFSZ, SIGPIPE}) std::signal(signal, SIG_IGN);
  Failure failed = perform(given_words());
  if (!session().next.empty()) {  // a run that goes on
    remember_invocation(std::exchange(session().next, {}));
    failed = perform(given_words());
  }
  const int code = complain(failed);
  if (code > 128) end_by_signal(code - 128);
  return code;
}
