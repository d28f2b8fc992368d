// The subcommands of "xorder bench", one source file each.
#pragma once

#include <CLI/CLI.hpp>

namespace xorder::cli {

/// disk: how fast a disk reads and writes, by size of request; keeps it for the plans to come.
void add_bench_disk(CLI::App& bench);

}  // namespace xorder::cli
