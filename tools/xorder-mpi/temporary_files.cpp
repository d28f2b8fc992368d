#include "temporary_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>
#include <exception>
#include <string>

namespace xorder::cli {
namespace {

constexpr std::size_t most = 2;  // the output and a scratch file

// For the signal handler, which can neither allocate nor lock.
std::array<std::array<char, PATH_MAX>, most> paths;
std::atomic<std::size_t> count = 0;

void remove_all() {
  for (std::size_t i = 0; i < count; ++i) unlink(paths[i].data());
}

void remove_and_end(int signal) {
  remove_all();
  _exit(128 + signal);
}

std::terminate_handler end = nullptr;

void remove_and_terminate() {
  remove_all();
  end();
}

}  // namespace

void set_temporary_files(const std::vector<std::filesystem::path>& files) {
  count = 0;
  std::size_t n = 0;
  for (const std::filesystem::path& file : files) {
    const std::string& text = file.native();
    if (text.empty() || text.size() >= PATH_MAX || n == most) continue;
    *std::ranges::copy(text, paths[n].begin()).out = '\0';
    ++n;
  }
  count = n;
}

void remove_temporary_files_at_sudden_ends() {
  end = std::set_terminate(remove_and_terminate);
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace xorder::cli
