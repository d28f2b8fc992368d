#include "command_line.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "arguments.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "moving.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "standard_streams.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

// The last command named on the line, or one before it that was given what it does not know; with its full
// name.
struct Named {
  const CLI::App* command;
  std::string name;
};
Named reached(const CLI::App& program) {
  Named at{&program, program.get_name()};
  while (at.command->remaining().empty() && !at.command->get_subcommands().empty()) {
    at.command = at.command->get_subcommands().front();
    at.name += " " + at.command->get_name();
  }
  return at;
}

// Whether the command of `xorder machine` with the same name has the option.
bool is_for_machine(const CLI::App& program, const std::string& option) {
  if (session().team != nullptr) return false;  // xorder-mpi has no such command
  try {
    CLI::App with_machine;
    add_machine(with_machine);
    const CLI::App* twin = with_machine.get_subcommand("machine");
    for (const CLI::App* at = &program; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      twin = twin->get_subcommand(at->get_name());
    }
    return twin->get_option_no_throw(option.substr(0, option.find('='))) != nullptr;
  } catch (const CLI::OptionNotFound&) {  // there is no such command
    return false;
  }
}

// "--" ends the options, and -1 is a number.
bool is_option(const std::string& word) {
  return word.starts_with('-') && word != "--" && word.find_first_not_of("0123456789", 1) != word.npos;
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  auto [command, name] = reached(program);
  std::string what = error.what();
  const auto words = command->remaining();
  const bool needs_command = command->get_require_subcommand_min() > 0;
  if (needs_command && !words.empty() && !words.front().starts_with('-')) {
    std::string commands;
    for (const CLI::App* sub : command->get_subcommands({})) commands += " " + sub->get_name();
    what = fmt::format("'{}' is not a command; the commands are:{}", words.front(), commands);
  } else if (const auto option = std::ranges::find_if(words, is_option); option != words.end()) {
    what = fmt::format("unknown option {}", *option);
    if (needs_command) {
      what += "; options follow the name of a command";
    } else if (is_for_machine(program, *option)) {
      const auto after = [](const std::string& line) { return line.substr(line.find(' ')); };
      what = fmt::format("{} is for virtual processors: xorder machine{}", *option, after(invocation()));
      name = "xorder machine" + after(name);
    } else if (!option->starts_with("--")) {
      what += fmt::format("; to name such a file, write ./{}", *option);
    }
  } else if (command->get_option_no_throw("--shape") != nullptr) {
    what = complaint_of_number(words).value_or(what);
  }
  return fmt::format("{} (see {} --help)", what, name);
}

// An empty value usually comes from an unset variable in a script; nobody means the default by it. Because it
// is refused, commands may take an empty string to mean that the option was not given. Hidden ones have no
// name for the message.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    option->check([](const std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    });
  }
  for (CLI::App* subcommand : command.get_subcommands({})) refuse_empty_values(*subcommand);
}

// Puts the help options into the reporting group.
void regroup_help(CLI::App& command) {
  command.set_help_flag("-h,--help", "print this help and exit")->group(group::reporting);
  if (std::ranges::any_of(command.get_groups(), group::is_rare))
    command.set_help_all_flag("--help-all", "print the help with all options and exit")
        ->group(group::reporting);
  for (CLI::App* subcommand : command.get_subcommands({})) regroup_help(*subcommand);
}

constexpr const char* out_of_memory = "out of memory; try a smaller --memory";

// For exceptions that a library's thread could not pass on, for example when there is no memory even for an
// exception. The output has no name yet and disappears with the process. Only if the file system has no
// nameless files (O_TMPFILE) does it stay under its temporary name, as after SIGKILL.
[[noreturn]] void end_in_order() {
  char text[300];  // there may be no memory for more
  const char* const program = session().program.c_str();
  int length = 0;
  try {
    if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
    length = std::snprintf(text, sizeof text, "%s: internal error\n", program);
  } catch (const std::bad_alloc&) {
    length = std::snprintf(text, sizeof text, "%s: %s\n", program, out_of_memory);
  } catch (const std::exception& e) {
    // TBB's threads throw this when they cannot start another one, which takes address space (ulimit -v).
    length = std::snprintf(text, sizeof text,
                           "%s: a thread failed: %s; try fewer --threads or a smaller --memory\n", program,
                           e.what());
  } catch (...) {
    length = std::snprintf(text, sizeof text, "%s: internal error: unknown exception\n", program);
  }
  length = std::min<int>(length, sizeof text - 1);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(1);
  _exit(1);
}

std::string with_advice(const Error& error) {
  return error.code() == EEXIST ? fmt::format("{} (--force replaces it)", error.what()) : error.what();
}

Failure unwritten() {
  const std::vector<std::string>& made = session().made;
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  const bool nobody_reads = poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
  if (made.empty() && nobody_reads) return {128 + SIGPIPE, ""};  // as for `| head`, which has read enough
  if (made.empty()) return {1, "standard output: write failed"};
  return {3, fmt::format("{}: {} complete, but the report could not be written to standard output",
                         fmt::join(made, " and "), made.size() == 1 ? "is" : "are")};
}

// Prints the help or the version.
Failure answered(const CLI::App& program, const CLI::ParseError& request) {
  if (!session().speaks()) return {};
  program.exit(request);
  return std::cout.flush() ? flushed() : unwritten();
}

}  // namespace

Session& session() {
  static Session the_one;
  return the_one;
}

Failure too_little_stack() {
  constexpr rlim_t least = 128 << 10;  // kernels need up to 72 KiB (kernel.hpp), everything else 16 to 24
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return {};
  return {2, "the stack is too small: at least 128 KiB is needed (ulimit -s)"};
}

void complete(CLI::App& program) {
  program.require_subcommand(1);
  program.set_version_flag("-V,--version", XORDER_VERSION, "print the version and exit")
      ->group(group::reporting);
  refuse_empty_values(program);
  regroup_help(program);
}

Failure failure(const CLI::App& program) {
  try {
    throw;
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? answered(program, e) : Failure{2, usage_error(program, e)};
  } catch (const ReportLost& e) {
    return {3, e.what()};
  } catch (const InputError& e) {
    return {2, with_advice(e)};
  } catch (const Cancelled& e) {
    return {128 + interrupting_signal(), e.what()};
  } catch (const std::bad_alloc&) {
    const CLI::Option* const processors = reached(program).command->get_option_no_throw("--processors");
    const bool fewer = processors != nullptr && processors->count() > 0;
    return {1, fmt::format("{}{}", out_of_memory, fewer ? ", or fewer --processors" : "")};
  } catch (const Error& e) {
    return {1, with_advice(e)};
  } catch (const std::exception& e) {
    return std::ferror(stdout) ? unwritten() : Failure{1, e.what()};
  }
}

Failure flushed() { return std::fflush(stdout) == 0 && !std::ferror(stdout) ? Failure{} : unwritten(); }

int complain(const Failure& failure) {
  if (failure.exit_code == 0) return 0;
  if (!failure.text.empty()) tell("{}: {}\n", session().program, on_one_line(failure.text));
  return failure.exit_code;
}

void install_end_in_order() { std::set_terminate(end_in_order); }

}  // namespace xorder::cli
