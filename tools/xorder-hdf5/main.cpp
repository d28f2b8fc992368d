// Reads the headers of an HDF5 file for xorder, `xorder-hdf5 SECONDS <FILE`, and makes those of a new one,
// `xorder-hdf5 SECONDS REQUEST <FILE`. It prints a line with a JSON object, and then the new file up to its
// data.
//
// A damaged file can make libhdf5 crash, loop or take all memory. So it runs in this process, with limits,
// and xorder believes nothing that this program prints. It also keeps libhdf5 out of libxorder.so, whose host
// may have another version of it.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hdf5.hpp"

namespace xorder_hdf5 {

std::string hdf5_reason() {
  std::string reason;
  const auto first = [](unsigned, const H5E_error2_t* error, void* text) -> herr_t {
    if (auto& kept = *static_cast<std::string*>(text); kept.empty() && error->desc != nullptr)
      kept = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &reason);
  reason = "libhdf5: " + (reason.empty() ? "unknown error" : reason.substr(0, 150));
  for (char& c : reason)
    if (c < ' ' || c > '~') c = '?';
  return reason;
}

namespace {

void limit(decltype(RLIMIT_CPU) resource, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(resource, &both);
}

}  // namespace
}  // namespace xorder_hdf5

int main(int argc, char** argv) {
  using namespace xorder_hdf5;
  const int seconds = argc == 2 || argc == 3 ? std::atoi(argv[1]) : 0;
  if (seconds <= 0) {
    fmt::print(stderr, "xorder runs this program for the headers of HDF5 files\n");
    return 2;
  }
  limit(RLIMIT_CPU, static_cast<rlim_t>(seconds));
  limit(RLIMIT_CORE, 0);
  if (argc == 2) limit(RLIMIT_FSIZE, 0);
#ifndef XORDER_SANITIZED  // sanitizers map terabytes
  limit(RLIMIT_AS, rlim_t{1} << 30);
#endif
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // whoever writes the file must not fail because it is read
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  nlohmann::json result;
  std::string header;
  try {
    constexpr const char* given = "/proc/self/fd/0";
    result = argc == 2 ? describe(given) : create(given, nlohmann::json::parse(argv[2]), header);
  } catch (const nlohmann::json::exception&) {
    result = {{"error", "HDF5 has no such type"}};
  } catch (const std::exception& error) {
    result = {{"error", error.what()}};
  }
  // Names need not be UTF-8.
  fmt::print("{}\n{}", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), header);
  std::fflush(stdout);
  _exit(0);  // what libhdf5 does at the end may fail on a damaged file
}
