// The program xorder-hdf5: where it is, and how it is run.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "io/container/hdf5.hpp"
#include "io/descriptor.hpp"
#include "text/count_text.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

struct Ended {
  std::string printed;
  int status = 0;       // as of waitpid()
  bool in_time = true;  // and with no more to print than a header may have
};

// Runs the program with `file` as its standard input.
Ended run_helper(const fs::path& program, int file, unsigned seconds, std::string request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw InputError(fmt::format("cannot run {}: {}", program.string(), reason(errno)));
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = program.string(), limit = std::to_string(seconds);
  char* words[] = {name.data(), limit.data(), request.empty() ? nullptr : request.data(), nullptr};
  pid_t child = 0;
  const int code = posix_spawn(&child, name.c_str(), &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw InputError(fmt::format("cannot run {}: {}", name, reason(code)));
  in.reset();

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  Ended ended;
  char buffer[65536];
  while (ended.in_time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{out.get(), POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) ended.in_time = false;
    if (ready.revents == 0) continue;
    const ssize_t bytes = read(out.get(), buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    ended.printed.append(buffer, static_cast<std::size_t>(bytes));
    ended.in_time = ended.printed.size() <= max_header_bytes;
  }
  kill(child, SIGKILL);  // who has ended has ended, whatever this says
  while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

}  // namespace

std::optional<fs::path> hdf5_helper() {
  if (const char* given = std::getenv("XORDER_HDF5"); given != nullptr) {
    if (*given == '\0') return {};
    return given;
  }
  std::error_code ignored;
  std::vector<fs::path> homes{fs::read_symlink("/proc/self/exe", ignored)};
  // A relative path may mean another file by now.
  if (Dl_info self; dladdr(reinterpret_cast<const void*>(&read_hdf5), &self) != 0 && self.dli_fname[0] == '/')
    homes.emplace_back(self.dli_fname);
  for (const fs::path& home : homes) {
    for (const fs::path& folder :
         {home.parent_path().parent_path(), home.parent_path().parent_path().parent_path()}) {
      fs::path helper = folder / "libexec" / "xorder-hdf5";
      struct stat own, found;
      if (stat(home.c_str(), &own) == 0 && stat(helper.c_str(), &found) == 0 && own.st_uid == found.st_uid)
        return helper;
    }
  }
  return {};
}

std::string run_hdf5_helper(int file, unsigned seconds, std::string request) {
  Ended ended = run_helper(*hdf5_helper(), file, seconds, std::move(request));
  if (!ended.in_time)
    throw InputError(
        fmt::format("damaged, or too large: to read its headers took more than {} or gave more than {} bytes",
                    count_text(seconds, "second"), max_header_bytes));
  if (WIFSIGNALED(ended.status)) {
    const int number = WTERMSIG(ended.status);
    throw InputError(
        fmt::format("damaged, or too large: libhdf5 ended by signal {} ({}) when it read its headers", number,
                    sigdescr_np(number)));
  }
  return std::move(ended.printed);
}

}  // namespace xorder::io
