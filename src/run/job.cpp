#include "xorder/run/job.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "run/delivery.hpp"
#include "run/tiles/tile_engine.hpp"
#include "xorder/io/memory.hpp"

namespace xorder::run {

Job::Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
         std::filesystem::path output, Options options)
    : input_(std::move(input)),
      output_(destination(std::move(output), input_, input_.description.dtype, extents)),
      options_(std::move(options)),
      memory_(effective_memory(options_.memory)) {
  check_delivery(output_, std::span(&input_, 1), options_);
  const Circumstances c = circumstances(input_, output_, options_, memory_);
  keep_cached_ = c.keep_cached;
  source_access_ = c.source;
  target_access_ = c.target;
  tiles_ = std::make_unique<TileEngine>(what, c, options_.device);
}

Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

const plan::Plan& Job::plan() const { return tiles_->plan(); }
bool Job::mapped() const { return tiles_->mapped(); }

Summary Job::summary() const {
  Summary all{.bytes = plan().what.bytes(),
              .memory = memory_,
              .device = plan().conditions.device.name,
              .engine = mapped() ? "mapped" : "direct",
              .passes = {}};
  tiles_->add_to(all);
  return all;
}

std::string Job::describe() const { return plan().describe(); }

Report Job::run(const ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  Delivery delivery(output_, std::span(&input_, 1), source_access_, target_access_, options_, memory_);
  delivery.source().set_keep_cached(keep_cached_);
  delivery.target().set_keep_cached(keep_cached_);

  Report report;
  report.passes = plan().passes.size();
  Tracker tracker(plan().what.bytes(), plan().passes.size(), progress);
  tiles_->run(
      {delivery.source(), input_.description.offset}, {delivery.target(), delivery.target_offset()},
      [&](std::uint64_t bytes) { return delivery.scratch(bytes); }, options_.threads, 1, tracker, report,
      stop);
  delivery.commit(stop);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace xorder::run
