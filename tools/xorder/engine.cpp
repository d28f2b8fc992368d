#include "engine.hpp"

#include "session.hpp"
#include "xorder/band/transposition.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::cli {
namespace {

class MainEngine final : public Engine {
 public:
  std::unique_ptr<work::Work> work(const Request& request, const Reordering& what,
                                   std::vector<std::uint64_t> extents) const override {
    if (request.parts)
      return session().work_on_parts(request.input(), what, std::move(extents), request.output,
                                     request.options, request.lowest_part_bit);
    return std::make_unique<tiles::Job>(request.input(), what, std::move(extents), request.output,
                                        request.options, session().team);
  }
  std::unique_ptr<work::Work> work(const Request& request, const std::vector<Band>& bands) const override {
    return std::make_unique<band::BandTransposition>(request.inputs, bands, request.output, request.options);
  }
};

}  // namespace

std::shared_ptr<Engine> main_engine() { return std::make_shared<MainEngine>(); }

}  // namespace xorder::cli
