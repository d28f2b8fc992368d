#include "parts/job.hpp"

#include <fmt/format.h>

#include "text/count_text.hpp"
#include "parts/tiles_pass.hpp"
#include "plan/plan.hpp"
#include "plan/price.hpp"
#include "schedule/rounds.hpp"
#include "text/size_text.hpp"
#include "tiles/tile_engine.hpp"
#include "work/frame.hpp"
#include "work/relay.hpp"
#include "work/run.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::parts {
namespace {

using std::uint64_t;

gf2::AffineMap index_map(const Reordering& what) {
  if (auto map = flat_map(what)) return *std::move(map);
  throw InputError(
      "an array in parts is permuted by the bits of indices, so all extents must be powers of two; other "
      "shapes need one file that all processes can open, or xorder_mpi_plan_axes() in memory");
}

// The map from where elements lie, part by part, to where they belong.
gf2::AffineMap stored_map(const Reordering& what, std::optional<int> lowest_part_bit,
                          const work::Team& team) {
  const gf2::AffineMap map = index_map(what);
  const int n = map.bits(), p = work::lg_parts(team);
  if (!lowest_part_bit || p > n) return map;
  const gf2::BitMatrix layout = schedule::processor_layout(n, p, *lowest_part_bit);
  return {layout * map.matrix * layout.inverse().value(), layout(map.complement)};
}

std::vector<uint64_t> part_extents(std::vector<uint64_t> extents, const work::Team& team) {
  const auto ranks = static_cast<uint64_t>(team.size());
  const uint64_t slowest = extents.empty() ? 1 : extents.front();
  if (slowest % ranks != 0) {
    throw InputError(fmt::format(
        "the slowest axis of the result has {} coordinates, too few for {} parts; use fewer processes",
        slowest, ranks));
  }
  if (!extents.empty()) extents.front() /= ranks;
  return extents;
}

work::Frame framed(io::ArrayFile input, const Reordering& what, const std::vector<uint64_t>& extents,
                   std::filesystem::path output, work::Options options, std::optional<int> lowest_part_bit,
                   work::Team& team) {
  const io::DType dtype = input.description.dtype;
  work::lg_parts(team);
  stored_map(what, lowest_part_bit, team);
  const std::vector<uint64_t> mine = part_extents(extents, team);
  const uint64_t bytes = what.bytes() / static_cast<uint64_t>(team.size());
  work::check_sizes(bytes, {&input, 1}, mine);
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, mine, std::move(options),
                                   2 * bytes, {.team = &team, .parts = true});
  work::check_same(what, team);
  return frame;
}

// What the plan is made for: the same on all ranks, whatever is in their page caches.
plan::Setting common_setting(const work::Frame& frame) {
  plan::Setting setting = frame.setting;
  setting.source = frame.disks.source;
  setting.source_offset = frame.team()->most(setting.source_offset);
  return setting;
}

Reordering within_block(const plan::PartsPlan& plan) {
  return mapping_of_all({{plan.block_bytes() / plan.element_bytes()}, plan.element_bytes(), Order::c},
                        *plan.before());
}

}  // namespace

Job::Job(io::ArrayFile input, const Reordering& what, std::vector<uint64_t> extents,
         std::filesystem::path output, work::Options options, std::optional<int> lowest_part_bit,
         work::Team& team, MPI_Comm comm)
    : Work(framed(std::move(input), what, extents, std::move(output), std::move(options), lowest_part_bit,
                  team)),
      comm_(comm),
      plan_(stored_map(what, lowest_part_bit, team), what.element_bytes, work::lg_parts(team),
            common_setting(frame())) {
  if (plan_.before()) {
    before_ = std::make_unique<tiles::TileEngine>(within_block(plan_), frame().setting.part(true, false));
  }
}

Job::~Job() = default;

// The figures of all ranks together.
std::vector<work::PassSummary> Job::passes() const {
  std::vector<work::PassSummary> all;
  if (before_) all = before_->passes();
  for (work::PassSummary& pass : all) {
    pass.bytes_read *= plan_.ranks();
    pass.bytes_written *= plan_.ranks();
  }
  all.push_back(plan_.pass());
  return all;
}

uint64_t Job::bytes() const { return plan_.block_bytes() * plan_.ranks(); }

uint64_t Job::scratch_bytes() const { return plan::scratch_files(passes().size()) * bytes(); }

std::optional<schedule::Traffic> Job::forecast(const std::stop_token&) const {
  return schedule::Traffic{.schedule = "rounds",
                           .processors = plan_.ranks(),
                           .steps = plan_.pass().tiles * plan_.rounds(),
                           .messages = plan_.messages(),
                           .crossings = plan_.messages(),
                           .bytes_moved = plan_.bytes_sent()};
}

std::string Job::describe() const {
  std::string text = fmt::format("{} ranks, each with a part of {}; {}, {} of scratch disk\n", plan_.ranks(),
                                 size_text(plan_.block_bytes()), count_text(passes().size(), "pass"),
                                 size_text(scratch_bytes()));
  if (before_) {
    text +=
        "first, within each rank, by tiles:\n" + before_->plan().describe_part() + "then, among the ranks:\n";
  }
  return text + plan_.describe();
}

void Job::move(work::Run& run) {
  const std::size_t last = passes().size() - 1;  // that of the common tiles
  const work::Relay relay(run, last + 1);
  if (before_) {
    before_->run(run, relay, {0, last});
    relay.finish(last - 1);
  }
  TilesPass tiles(plan_, run, comm_, relay.source(last), relay.target(last));
  tiles.move(last + 1);
  const auto sent = run.team()->sums({tiles.sent().messages, tiles.sent().bytes});
  sent_ = forecast({});
  sent_->messages = sent_->crossings = sent[0];
  sent_->bytes_moved = sent[1];
}

}  // namespace xorder::parts
