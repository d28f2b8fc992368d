#include "xorder/tiles/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "io/output_files.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "tiles/job_of_team.hpp"
#include "tiles/tile_engine.hpp"
#include "verify/read_back.hpp"
#include "work/frame.hpp"
#include "work/resuming.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

work::Frame framed(std::vector<io::ArrayFile> inputs, const Reordering& what,
                   const std::vector<std::uint64_t>& extents, std::filesystem::path output,
                   work::Options options, work::Team* team) {
  if (inputs.empty()) throw InputError("no input");
  work::check_sizes(what.bytes(), inputs, extents);
  // The first says where the data begin.
  std::ranges::stable_partition(inputs,
                                [](const io::ArrayFile& in) { return in.description.elements() > 0; });
  const io::DType dtype = inputs.front().description.dtype;
  std::uint64_t working = what.bytes();
  for (const io::ArrayFile& input : inputs) working += input.description.end() - input.description.begin();
  options.kept_axes = inputs.size() == 1 ? work::kept_axes(what) : std::vector<int>();
  work::Frame frame = work::settle(std::move(inputs), std::move(output), dtype, extents, std::move(options),
                                   working, {.team = team}, {.strided = true});
  work::settle_journal(frame, what, extents);
  if (team != nullptr) work::check_same(what, *team);
  return frame;
}

}  // namespace

Job::Job(const io::ArrayFile& input, const Permutation& permutation, std::filesystem::path output,
         work::Options options)
    : Job(permutation(input.description.shape()), input, std::move(output), std::move(options)) {}

Job::Job(const Permuted& permuted, const io::ArrayFile& input, std::filesystem::path output,
         work::Options options)
    : Job({input}, stored_in(options.output_order, permuted.reordering, permuted.extents), permuted.extents,
          std::move(output), std::move(options)) {}

Job::Job(std::vector<io::ArrayFile> inputs, const Reordering& what, std::vector<std::uint64_t> extents,
         std::filesystem::path output, work::Options options)
    : Job(std::move(inputs), what, std::move(extents), std::move(output), std::move(options), nullptr) {}

Job::Job(std::vector<io::ArrayFile> inputs, const Reordering& what, std::vector<std::uint64_t> extents,
         std::filesystem::path output, work::Options options, work::Team* team)
    : Work(framed(std::move(inputs), what, extents, std::move(output), std::move(options), team)),
      tiles_(std::make_unique<TileEngine>(what, frame().setting)) {
  work::require_memory_to_go_on(frame(), plan().peak_memory());
  note(tiles_->note());
}

std::unique_ptr<Job> job_of_team(std::vector<io::ArrayFile> inputs, const Reordering& what,
                                 std::vector<std::uint64_t> extents, std::filesystem::path output,
                                 work::Options options, work::Team& team) {
  return std::unique_ptr<Job>(
      new Job(std::move(inputs), what, std::move(extents), std::move(output), std::move(options), &team));
}

Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

const plan::Plan& Job::plan() const { return tiles_->plan(); }
std::string Job::describe() const {
  const work::Destination& to = frame().output;
  if (!frame().options.split) return plan().describe();
  const io::NumberedName names(to.path);
  return plan().describe() + fmt::format("output: {} of {}, {} to {}\n", count_text(to.files, "file"),
                                         size_text(to.file_bytes()), names.path(0).string(),
                                         names.path(to.files - 1).string());
}
std::vector<work::PassSummary> Job::passes() const { return tiles_->passes(); }
std::uint64_t Job::scratch_bytes() const { return plan().scratch_bytes(); }

void Job::verify_output() {
  if (frame().options.resumable)
    throw InputError("a run that can be resumed does not verify its output; verify it afterwards");
  if (frame().options.split)
    throw InputError("a run that makes several files does not verify them; compare them with xorder verify");
  verifies_ = true;
}

void Job::move(work::Run& run) {
  const std::size_t passes = plan().passes.size();
  std::optional<verify::Comparison> comparison;
  if (verifies_) {
    comparison.emplace(plan().what);
    run.expect(comparison->bytes());
  }
  {
    const work::Relay relay(run, passes);
    tiles_->adopt_alignments(run, relay, {0, passes});
    if (run.resumable()) run.begin_resumable(tiles_->steps());
    tiles_->run(run, relay, {0, passes}, comparison ? &*comparison : nullptr);
  }
  if (!comparison) return;
  run.begin(comparison->bytes(), passes);
  verify::read_back(run, *comparison, frame().memory());
}

}  // namespace xorder::tiles
