// The command line: parses, runs a subcommand, and turns every failure into one line and an exit code.
//   0 done   1 failed while running   2 bad input, nothing was touched   3 OUT is complete, its report is lost
//   130 (128 + signal) interrupted

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "commands.hpp"
#include "help_formatter.hpp"
#include "interrupt.hpp"
#include "moving.hpp"
#include "option_groups.hpp"
#include "standard_streams.hpp"
#include "xorder/error.hpp"

namespace {

int complain(const std::string& what, int code) {
  std::string line = what;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  xorder::cli::tell("xorder: {}\n", xorder::cli::printable(line));
  return code;
}

// The command that the line has got as far as, with its name.
struct Named {
  const CLI::App* command;
  std::string name;
};
Named reached(const CLI::App& program) {
  Named at{&program, program.get_name()};
  while (!at.command->get_subcommands().empty()) {
    at.command = at.command->get_subcommands().front();
    at.name += " " + at.command->get_name();
  }
  return at;
}

int complain_of_usage(const CLI::App& program, const CLI::ParseError& error) {
  const auto [command, name] = reached(program);
  std::string what = error.what();
  const auto words = command->remaining();
  const bool needs_command = command->get_require_subcommand_min() > 0 && command->get_subcommands().empty();
  if (needs_command && !words.empty() && !words.front().starts_with('-')) {
    std::string commands;
    for (const CLI::App* sub : command->get_subcommands({})) commands += " " + sub->get_name();
    what = fmt::format("'{}' is no command; there are:{}", words.front(), commands);
  }
  return complain(fmt::format("{} (see {} --help)", what, name), 2);
}

// An empty value comes from a script whose variable is not set, and is nobody's wish for the default. So an
// option that is empty where the commands look at it was not given.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    option->check([](const std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    });
  }
  for (CLI::App* subcommand : command.get_subcommands({})) refuse_empty_values(*subcommand);
}

// The help comes last of all options, with the other words to the reader.
void regroup_help(CLI::App& command) {
  command.set_help_flag("-h,--help", "print this help and exit")->group(xorder::cli::group::reporting);
  for (CLI::App* subcommand : command.get_subcommands({})) regroup_help(*subcommand);
}

// The limit holds for each thread's stack too. Runs were seen to need between 16 and 24 KiB.
constexpr rlim_t least_stack = 64 << 10;

bool enough_stack() {
  rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_stack;
}

}  // namespace

// For what a library's thread could not pass on, such as when there is no memory even for an exception. The output
// has no name yet and goes with the process; only where the file system has no nameless files (O_TMPFILE) does it
// stay under its temporary name, as after SIGKILL.
[[noreturn]] static void end_in_order() {
  const char* line = "xorder: internal error: unhandled exception\n";
  try {
    if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    line = "xorder: out of memory; give less with --memory, or fewer --processors\n";
  } catch (...) {
  }
  if (write(STDERR_FILENO, line, std::strlen(line)) < 0) _exit(1);
  _exit(1);
}

int main(int argc, char** argv) {
  xorder::cli::occupy_closed_streams();
  if (!enough_stack()) return complain("the stack is too small: at least 64 KiB are needed (ulimit -s)", 2);
  CLI::App program{
      "xorder reorders files that do not fit in memory: transpositions, bit reversals and every other\n"
      "permutation y = A x ^ c of the bits of an index, from file to file, at the speed of the disk.",
      "xorder"};
  program.formatter(std::make_shared<xorder::cli::HelpFormatter>());
  program.require_subcommand(1);
  program.set_version_flag("--version", XORDER_VERSION, "print the version and exit")
      ->group(xorder::cli::group::reporting);
  program.footer(
      "Exit codes: 0 done, 1 failed, 2 refused before anything was touched, 3 OUT is complete but its report "
      "could\n"
      "not be written, 130 (128 + signal) interrupted. Sizes: 2GiB, 512M (powers of 1024) or 2GB (of 1000).");
  xorder::cli::add_transpose(program);
  xorder::cli::add_bitreverse(program);
  xorder::cli::add_permute(program);
  xorder::cli::add_show(program);
  xorder::cli::add_info(program);
  xorder::cli::add_schedule(program);
  xorder::cli::add_descend_command(program);
  xorder::cli::add_bench(program);
  refuse_empty_values(program);
  regroup_help(program);

  xorder::cli::install_fault_handler();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error, not the end
  std::set_terminate(end_in_order);
  try {
    program.parse(argc, argv);
    if (std::fflush(stdout) != 0) return complain("standard output: write failed", 1);
    return 0;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      program.exit(e);
      return std::cout.flush() && std::fflush(stdout) == 0 ? 0 : complain("standard output: write failed", 1);
    }
    return complain_of_usage(program, e);
  } catch (const xorder::cli::ReportLost& e) {
    return complain(e.what(), 3);
  } catch (const xorder::InputError& e) {
    return complain(e.code() == EEXIST ? fmt::format("{} (--force overwrites it)", e.what()) : e.what(), 2);
  } catch (const xorder::Cancelled& e) {
    return complain(e.what(), 128 + xorder::cli::interrupting_signal());
  } catch (const std::bad_alloc&) {
    return complain("out of memory; give less with --memory, or fewer --processors", 1);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
}
