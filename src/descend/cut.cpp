#include "descend/cut.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

constexpr uint64_t MiB = uint64_t{1} << 20;
// A block is read and computed at once or, if that does not fit, in two parts. More of them would take less
// memory still; but for each the widest iterations gather a block on either side too.
constexpr int lg_most_chunks = 1;

class Chooser {
 public:
  Chooser(const Groups& groups, uint64_t memory, bool keeps_first, unsigned threads,
          const DescendSizes& wanted)
      : groups_(groups),
        record_(groups.what().record_bytes()),
        memory_(memory),
        keeps_first_(keeps_first),
        wanted_(wanted) {
    cut_.lg_size = groups.lg_size();
    // For disks and processors to be busy at once; each has a bounce buffer in io::read_range besides ours.
    if (threads == 0) threads = static_cast<unsigned>(oneapi::tbb::info::default_concurrency());
    cut_.threads =
        static_cast<unsigned>(std::clamp<uint64_t>(memory / (8 * MiB), 2, std::max(8u, threads + 4)));
    cut_.request_bytes =
        wanted.request_bytes != 0 ? wanted.request_bytes : std::clamp<uint64_t>(memory / 128, 64 << 10, MiB);
    cut_.tiles_at_once = 3;
    cut_.chunks_at_once = 4;
  }

  /// The cut into 2^p blocks if it fits.
  std::optional<Cut> with(int p) {
    cut_.lg_block = cut_.lg_size - p;
    cut_.inter_node_memory = cut_.local_memory = 0;
    cut_.lg_chunk = cut_.lg_offsets = cut_.lg_block;
    if (cut_.in_memory()) {
      cut_.inter_node_memory =
          for_threads(local_groups(), uint64_t{1} << cut_.lg_size) + 2 * (record_ << cut_.lg_size);
      return fits();
    }
    choose_offsets();
    if (!cut_.local()) return fits();
    if (wanted_.chunks != 0) {
      choose_chunks(exact_lg(wanted_.chunks, "chunks of a block"));
      return fits();
    }
    for (int lg_chunks = 0; lg_chunks <= lg_most_chunks; ++lg_chunks) {
      choose_chunks(lg_chunks);
      if (const auto cut = fits()) return cut;
    }
    return std::nullopt;
  }

 private:
  std::optional<Cut> fits() const {
    if (std::max(cut_.inter_node_memory, cut_.local_memory) > memory_) return std::nullopt;
    return cut_;
  }

  std::vector<Bits> local_groups() const {
    return groups_of(cut_.lg_block, groups_.what().direction(), record_, groups_.cache_bytes());
  }

  // What threads need of their own.
  uint64_t for_threads(std::span<const Bits> groups, uint64_t count) const {
    uint64_t scratch = 0;
    for (const Bits bits : groups) scratch = std::max(scratch, groups_.scratch_bytes(bits, count));
    return cut_.threads * (scratch + cut_.request_bytes + MiB);
  }

  void choose_offsets() {
    const Bits bits{cut_.lg_block, cut_.lg_size};
    const uint64_t own = for_threads(std::span(&bits, 1), 0);
    const auto needed = [&](int lg) {
      return own + cut_.tiles_at_once * (record_ << (cut_.lg_size - cut_.lg_block + lg));
    };
    int& lg = cut_.lg_offsets;
    if (wanted_.offsets != 0) {
      lg = std::min(cut_.lg_block, exact_lg(wanted_.offsets, "offsets at once"));
    } else {
      lg = cut_.lg_block;
      // Enough tiles for reading, computing and writing at once; requests of more than a few MiB gain
      // nothing.
      while (lg > 0 && (needed(lg) > memory_ || cut_.tiles() < 8 || (record_ << lg) > 4 * MiB)) {
        if ((record_ << (lg - 1)) < 4096 && needed(lg) <= memory_) break;
        --lg;
      }
    }
    cut_.inter_node_memory = needed(lg);
  }

  void choose_chunks(int lg_chunks) {
    cut_.lg_chunk = std::max(0, cut_.lg_block - lg_chunks);
    const std::vector<Bits> bits = local_groups();
    for (const Bits group : bits) cut_.lg_chunk = std::max(cut_.lg_chunk, group.low);
    uint64_t chunks = cut_.chunks_at_once, halo = 0;
    for (const Bits group : bits) {
      chunks += 2 * cut_.halo_chunks(group) + 1;
      halo += cut_.halo_chunks(group);
    }
    if (keeps_first_) chunks += halo;
    cut_.local_memory = for_threads(bits, uint64_t{1} << cut_.lg_chunk) + chunks * (record_ << cut_.lg_chunk);
  }

  const Groups& groups_;
  uint64_t record_, memory_;
  bool keeps_first_;
  DescendSizes wanted_;
  Cut cut_;
};

}  // namespace

uint64_t Cut::halo_chunks(Bits bits) const {
  const uint64_t halo = bits.halo_rows() * bits.stride(), chunk = uint64_t{1} << lg_chunk;
  return (halo + chunk - 1) / chunk;
}

Cut choose_cut(const Groups& groups, uint64_t memory, bool keeps_first, unsigned threads,
               const DescendSizes& wanted) {
  Chooser chooser(groups, memory, keeps_first, threads, wanted);
  const int n = groups.lg_size();
  int p = 0;
  if (wanted.processors != 0) {
    p = exact_lg(wanted.processors, "the number of processors");
    if (p > n) {
      throw InputError(
          fmt::format("{} processors are more than the {} elements", wanted.processors, uint64_t{1} << n));
    }
    if (const auto cut = chooser.with(p)) return *cut;
  }
  for (int fitting = 0; fitting <= n; ++fitting) {
    const auto cut = chooser.with(fitting);
    if (!cut) continue;
    if (wanted.processors == 0) return *cut;
    throw InputError(fmt::format("with {} processors this does not fit in {} MiB of memory; {} do",
                                 wanted.processors, memory / MiB, uint64_t{1} << fitting));
  }
  for (uint64_t times = 2; times <= UINT64_MAX / memory; times *= 2) {
    Chooser with_more(groups, times * memory, keeps_first, threads, wanted);
    for (int q = 0; q <= n; ++q) {
      if (with_more.with(q)) {
        throw InputError(fmt::format("{} elements of {} bytes need more memory; {} times as much would do",
                                     uint64_t{1} << n, groups.what().record_bytes(), times));
      }
    }
  }
  throw InputError(fmt::format("{} elements of {} bytes are too many for any memory", uint64_t{1} << n,
                               groups.what().record_bytes()));
}

}  // namespace xorder::descend
