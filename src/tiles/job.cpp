#include "xorder/tiles/job.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "io/memory.hpp"
#include "tiles/tile_engine.hpp"
#include "work/delivery.hpp"

namespace xorder::tiles {

struct Job::Reach {
  io::Access source, target;
};

Job::Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
         std::filesystem::path output, work::Options options)
    : input_(std::move(input)),
      output_(work::destination(std::move(output), input_, input_.description.dtype, extents)),
      options_(std::move(options)),
      memory_(work::effective_memory(options_.memory)) {
  work::check_delivery(output_, std::span(&input_, 1), options_);
  const work::Circumstances c = work::circumstances(input_, output_, options_, memory_);
  keep_cached_ = c.keep_cached;
  reach_ = std::make_unique<Reach>(Reach{c.source, c.target});
  tiles_ = std::make_unique<TileEngine>(what, c, options_.device);
}

Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

const plan::Plan& Job::plan() const { return tiles_->plan(); }
bool Job::mapped() const { return tiles_->mapped(); }

work::Summary Job::summary() const {
  work::Summary all{.bytes = plan().what.bytes(),
                    .memory = memory_,
                    .device = plan().conditions.device.name,
                    .engine = mapped() ? "mapped" : "direct",
                    .passes = {}};
  tiles_->add_to(all);
  return all;
}

std::string Job::describe() const { return plan().describe(); }

work::Report Job::run(const work::ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  work::Delivery delivery(output_, std::span(&input_, 1), reach_->source, reach_->target, options_, memory_);
  delivery.source().set_keep_cached(keep_cached_);
  delivery.target().set_keep_cached(keep_cached_);

  work::Report report;
  report.passes = plan().passes.size();
  work::Tracker tracker(plan().what.bytes(), plan().passes.size(), progress);
  tiles_->run(
      {delivery.source(), input_.description.offset}, {delivery.target(), delivery.target_offset()},
      [&](std::uint64_t bytes) { return delivery.scratch(bytes); }, options_.threads, 1, tracker, report,
      stop);
  delivery.commit(stop);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace xorder::tiles
