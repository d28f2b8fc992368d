// Shared by the main functions of the programs that have these commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace xorder::cli {

/// Call this when the program has all its commands. Sets up the help and --version, and refuses empty values.
void complete(CLI::App& program);

struct Failure {
  /// 0: no failure; 2: bad input; 3: what the command makes is complete, but the report or trace is lost;
  /// 128 + signal; 1: all else.
  int exit_code = 0;
  std::string text;  ///< one line, or empty: say nothing
};
/// The failure that the exception being handled stands for. A request for the help or the version is not a
/// failure: it is printed, if this process speaks (session.hpp).
Failure failure(const CLI::App& program);
/// What is still to be written to standard output is written. The failure if that, or an earlier write,
/// failed: 3 if the command has made files (Session::made), which stay, otherwise 1.
Failure flushed();

/// The failure if the stack limit is too low for this program.
Failure too_little_stack();

/// Reports the failure, if there is one, and returns the exit code.
int complain(const Failure& failure);

/// Makes an exception that no caller can catch end the program with one line and exit code 1.
void install_end_in_order();

}  // namespace xorder::cli
