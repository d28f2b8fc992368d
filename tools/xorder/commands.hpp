// The subcommands of xorder, one source file each. Each function adds its subcommand to the command line;
// what the subcommand does is the callback that CLI11 calls once the whole line has been parsed. Callbacks
// throw xorder::Error.
#pragma once

#include <CLI/CLI.hpp>

namespace xorder::cli {

void add_transpose(CLI::App& program);
void add_bitreverse(CLI::App& program);
void add_permute(CLI::App& program);
/// show: the matrix of a permutation, and what it costs.
void add_show(CLI::App& program);
void add_info(CLI::App& program);
/// schedule: who sends what to whom among virtual processors, and whether that is right.
void add_schedule(CLI::App& program);
/// descend: computations on a file that combine elements 2^b apart.
void add_descend_command(CLI::App& program);
/// report: what a trace of a run's transfers shows.
void add_report(CLI::App& program);
/// bench: measures what plans depend on.
void add_bench(CLI::App& program);

}  // namespace xorder::cli
