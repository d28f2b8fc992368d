#include "engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "checked_option.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "tiles/job_of_team.hpp"
#include "xorder/band/transposition.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

class MainEngine final : public Engine {
 public:
  void add_frame(CLI::App& command, MovingCommand::Make make, const OtherFiles& others) override {
    OtherFiles here = others;
    here.in_place = session().team == nullptr;
    Engine::add_frame(command, std::move(make), here);
  }
  void add_to(CLI::App& command) override {
    if (session().team == nullptr)
      command
          .add_flag("--verify", verifies_,
                    "read OUT again, past the page cache, and compare it before naming it")
          ->group(group::output);
    Engine::add_to(command);
  }
  std::unique_ptr<work::Work> reordering(const Request& request, const Reordering& what,
                                         std::vector<std::uint64_t> extents) const override {
    if (request.parts)
      return session().work_on_parts(request.input(), what, std::move(extents), request.output,
                                     request.options, request.lowest_part_bit);
    if (session().team != nullptr)
      return tiles::job_of_team(request.inputs, what, std::move(extents), request.output, request.options,
                                *session().team);
    if (request.in_place)
      return std::make_unique<InPlaceJob>(request.input(), what, extents, request.options,
                                          session().in_place);
    auto job =
        std::make_unique<Job>(request.inputs, what, std::move(extents), request.output, request.options);
    if (verifies_) job->verify_output();
    return job;
  }
  std::unique_ptr<work::Work> bands(const Request& request, const std::vector<Band>& bands) const override {
    if (verifies_) throw InputError("--verify: not with --banded, which also makes zeros");
    return band::transposition(request.inputs, bands, request.output, request.options);
  }

 private:
  bool verifies_ = false;
};

}  // namespace

void Engine::add_frame(CLI::App& command, MovingCommand::Make make, const OtherFiles& others) {
  MovingCommand::add_to(command, std::move(make), others);
}

void Engine::add_to(CLI::App& command) {
  command.option_defaults()->group(group::stored);
  add_parsed(command, "--out-shape", "R,C,..", shape_, parse_shape,
             "a reshape of the result; one extent may be -1");
  if (session().team == nullptr)
    add_parsed(command, "--split", "K", split_, parse_int,
               "a file for each index of axis K of the result, as it is after --out-shape; OUT is a pattern "
               "with %d or %0Nd, such as out.%04d.npy; all files are new");
  add_parsed(command, "--out-order", "C|F", order_, parse_order,
             "of OUT: C has the last axis fastest, F (Fortran, column-major) the first; default: C");
}

std::unique_ptr<work::Work> Engine::work(Request request, const Reordering& what,
                                         std::vector<std::uint64_t> extents) const {
  if (request.parts && (shape_ || order_)) throw InputError("--out-shape and --out-order: not with --parts");
  if (shape_) {
    const io::DType byte;
    const auto result = io::ArrayDescription::contiguous(byte, std::move(extents), Order::c, 0);
    try {
      extents = io::reshaped(result, shape_->extents, shape_->inferred_axis).extents;
    } catch (const InputError& e) {
      throw InputError(fmt::format("--out-shape: {}", e.what()));
    }
  }
  if (request.in_place) request.options.output_order = request.input().description.order();
  request.options.output_order = order_.value_or(request.options.output_order);
  std::vector<int> axes(extents.size());  // as they are stored, slowest first
  std::iota(axes.begin(), axes.end(), 0);
  if (request.options.output_order == Order::fortran) std::ranges::reverse(axes);
  if (split_) {
    if (request.options.overwrite) throw InputError("--force: not with --split, which makes new files only");
    try {
      const int axis = checked_axis(*split_, extents.size());
      std::rotate(axes.begin(), std::ranges::find(axes, axis), std::ranges::find(axes, axis) + 1);
    } catch (const InputError& e) {
      throw InputError(fmt::format("--split: {}", e.what()));
    }
    request.options.split = true;
    allow_many_files();
  }
  const Reordering stored = stored_in(axes, what, extents);
  if (split_) {
    const auto first = extents.begin() + axes.front();
    std::rotate(extents.begin(), first, first + 1);
  }
  return reordering(request, stored, std::move(extents));
}

std::unique_ptr<work::Work> Engine::work(const Request& request, const std::vector<Band>& bands) const {
  if (shape_ || order_ || split_) throw InputError("--out-shape, --split and --out-order: not with --banded");
  return this->bands(request, bands);
}

std::shared_ptr<Engine> main_engine() { return std::make_shared<MainEngine>(); }

}  // namespace xorder::cli
