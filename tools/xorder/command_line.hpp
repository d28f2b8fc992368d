// What the main functions of programs with these commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace xorder::cli {

/// To be called when the program has all its commands: the order and looks of the help, --version, empty
/// values.
void complete(CLI::App& program);

struct Failure {
  int exit_code =
      0;  ///< 0: none; 2 bad input, 3 OUT is complete but its report is lost, 128 + signal, 1 all else
  std::string text;  ///< one line
};
/// What the exception that is being handled means. One that asks for the help or the version is none, and
/// prints what it asks for if this process speaks (session.hpp).
Failure failure(const CLI::App& program);

/// None, or that the limit of the stack is too low for this program.
Failure too_little_stack();

/// Says what failed, if anything did, and returns the exit code.
int complain(const Failure& failure);

/// Ends the program in order, with one line, where an exception could not be passed on.
void install_end_in_order();

}  // namespace xorder::cli
