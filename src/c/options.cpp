#include "c/options.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "c/border.hpp"
#include "task/threads.hpp"
#include "work/profiles.hpp"

namespace xorder::c {
namespace {

// The size of the first version's struct. No program has a smaller one.
constexpr std::size_t first_size = offsetof(xorder_options, device) + sizeof(const char*);

work::AccessChoice access_choice(int access) {
  switch (access) {
    case XORDER_ACCESS_AUTO:
      return work::AccessChoice::automatic;
    case XORDER_ACCESS_DIRECT:
      return work::AccessChoice::direct;
    case XORDER_ACCESS_MAPPED:
      return work::AccessChoice::mapped;
    default:
      throw ArgumentError(fmt::format("options.access is {}, which is not an xorder_access", access));
  }
}

}  // namespace

unsigned checked_threads(int threads) {
  if (threads < 0 || threads > task::max_threads)
    throw ArgumentError(
        fmt::format("{} threads; expected 1 to {}, or 0 for the default", threads, task::max_threads));
  return static_cast<unsigned>(threads);
}

work::Options job_options(const xorder_options* given) {
  const xorder_options o = given == nullptr ? xorder_options{} : known_part(*given, first_size);
  if (o.reserved != 0) throw ArgumentError(fmt::format("options.reserved is {}, not 0", o.reserved));
  work::Options options;
  options.memory = o.memory;
  options.threads = checked_threads(o.threads);
  options.access = access_choice(o.access);
  options.overwrite = o.overwrite != 0;
  options.resumable = o.resumable != 0;
  if (o.scratch_directory != nullptr) options.scratch_directory = o.scratch_directory;
  if (o.device != nullptr) options.device = work::named_device(o.device);
  return options;
}

}  // namespace xorder::c
