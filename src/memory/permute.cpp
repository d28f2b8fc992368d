#include "xorder/memory/permute.hpp"

#include <mutex>

#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/workspace.hpp"
#include "memory/make_engine.hpp"

namespace xorder::memory {

// The engine that works in place, made when it is first needed.
struct InMemoryPlan::InPlace {
  const InPlaceEngine& engine(const Reordering& what) {
    std::call_once(made, [&] { it = make_in_place_engine(what); });
    return *it;
  }
  std::once_flag made;
  std::unique_ptr<const InPlaceEngine> it;
};

InMemoryPlan::InMemoryPlan(const Reordering& what)
    : what_(canonical(what)), engine_(make_engine(what_)), in_place_(std::make_unique<InPlace>()) {}
InMemoryPlan::InMemoryPlan(InMemoryPlan&&) noexcept = default;
InMemoryPlan& InMemoryPlan::operator=(InMemoryPlan&&) noexcept = default;
InMemoryPlan::~InMemoryPlan() = default;

void InMemoryPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  memory::perform(*engine_, what_.bytes(), threads, source, target);
}

void InMemoryPlan::execute_in_place(std::byte* array, unsigned threads) const {
  if (stays(what_) || what_.bytes() == 0) return;
  const InPlaceEngine& engine = in_place_->engine(what_);
  const unsigned most = count_threads(what_.bytes(), threads);
  Workspace workspace(engine.needs(), most);
  engine.perform(array, most, workspace);
}

std::string InMemoryPlan::describe() const { return engine_->describe(); }
std::string InMemoryPlan::describe_in_place() const {
  return stays(what_) || what_.bytes() == 0 ? "nothing moves" : in_place_->engine(what_).describe();
}

void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  InMemoryPlan(what).execute(source, target, threads);
}
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads) {
  InMemoryPlan(what).execute_in_place(array, threads);
}

}  // namespace xorder::memory
