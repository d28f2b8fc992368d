#include "bench.hpp"

#include "commands.hpp"

namespace xorder::cli {

void add_bench(CLI::App& program) {
  CLI::App* command = program.add_subcommand("bench", "measures what xorder's plans depend on");
  command->require_subcommand(1);
  add_bench_disk(*command);
}

}  // namespace xorder::cli
