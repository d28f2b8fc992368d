// xorder-mpi: the commands of xorder that permute, run by several processes on a shared file system. Each
// performs a share of the tiles of one plan, so in each pass all data are read once and written once, and
// next to nothing is sent. With --parts each process has its own file with a part of the array, and they
// exchange elements.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "command_line.hpp"
#include "commands.hpp"
#include "help_formatter.hpp"
#include "mpi_team.hpp"
#include "parts/job.hpp"
#include "session.hpp"
#include "standard_streams.hpp"
#include "temporary_files.hpp"

namespace {

using namespace xorder::cli;

// Ranks with different arguments would make different plans.
void check_arguments(MpiTeam& team, int argc, char** argv) {
  std::string mine;
  for (int i = 1; i < argc; ++i) mine += argv[i] + std::string(1, '\0');
  const std::vector<std::string> all = team.share(mine);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] != all[0])
      throw xorder::InputError(
          fmt::format("rank {} was given different arguments from rank 0; all ranks need the same", r));
  }
}

Failure run(MpiTeam& team, int argc, char** argv) {
  CLI::App program{
      "xorder-mpi permutes a file with several processes, on one machine or on many that share a file "
      "system:\n"
      "mpirun -n 8 xorder-mpi transpose a.npy b.npy. With --parts each process has a file with a part of "
      "the\n"
      "array. The options are those of xorder; --memory is per process.",
      "xorder-mpi"};
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "Exit codes: 0 done, 1 failed, 2 refused before anything was touched, 3 output complete,\n"
      "report lost. Sizes: 2GiB, 512M (powers of 1024) or 2GB (of 1000).");
  add_transpose(program);
  add_bitreverse(program);
  add_permute(program);
  for (CLI::App* command : program.get_subcommands({})) {
    const std::string& name = command->get_name();
    const char* const task = name == "permute" ? " --by 'gray^-1 * bitreverse'" : "";
    command->footer(fmt::format(
        "Examples: see xorder {0} --help; write mpirun -n 8 xorder-mpi instead of xorder. With parts:\n"
        "  mpirun -n 8 xorder-mpi {0} 'part.%r.npy' 'out.%r.npy' --parts{1}",
        name, task));
  }
  complete(program);
  Failure mine;
  try {
    check_arguments(team, argc, argv);
    program.parse(argc, argv);
    mine = flushed();
  } catch (const TeamFailure& e) {
    return e.failure;
  } catch (...) {
    mine = failure(program);
  }
  return team.conclude(mine);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  session().program = "xorder-mpi";
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error, not a reason to die
  int threads = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  install_end_in_order();
  remove_temporary_files_at_sudden_ends();
  std::optional<MpiTeam> team;
  team.emplace(MPI_COMM_WORLD);
  session().team = &*team;
  session().work_on_parts = [&team](auto&&... arguments) {
    return std::make_unique<xorder::parts::Job>(std::forward<decltype(arguments)>(arguments)..., *team,
                                                team->comm());
  };
  const Failure failed = threads < MPI_THREAD_FUNNELED
                             ? Failure{1, "this MPI does not allow a process to have threads of its own"}
                             : run(*team, argc, argv);
  if (session().speaks()) complain(failed);
  MPI_Finalize();
  return failed.exit_code;
}
