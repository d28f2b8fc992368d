// The subcommands of xorder, one source file each. Each function adds its subcommand to the command line,
// with a callback that CLI11 calls when it has parsed the whole line. Callbacks throw xorder::Error.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "engine.hpp"

namespace xorder::cli {

CLI::App* add_transpose(CLI::App& parent, std::shared_ptr<Engine> engine = main_engine());
CLI::App* add_bitreverse(CLI::App& parent, std::shared_ptr<Engine> engine = main_engine());
CLI::App* add_permute(CLI::App& parent, std::shared_ptr<Engine> engine = main_engine());
/// verify: the same commands, which check OUT instead of making it.
void add_verify(CLI::App& program);
/// show: the matrix of a permutation, and its cost.
void add_show(CLI::App& program);
void add_info(CLI::App& program);
/// schedule: prints and checks who sends what to whom among virtual processors.
void add_schedule(CLI::App& program);
/// machine: the commands that move data, by virtual processors.
void add_machine(CLI::App& program);
/// descend: computations on a file that combine elements 2^b apart; in sweeps or by virtual processors.
void add_descend_command(CLI::App& parent, bool by_machine = false);
/// resume, rollback, status, discard: for runs with --resumable or --in-place.
void add_resume(CLI::App& program);
/// report: summarises the trace of a run's transfers.
void add_report(CLI::App& program);
/// bench: measures disks, caches, memory and xorder itself.
void add_bench(CLI::App& program);

}  // namespace xorder::cli
