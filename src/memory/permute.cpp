#include "xorder/memory/permute.hpp"

#include <fmt/format.h>

#include <mutex>

#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/workspace.hpp"
#include "memory/make_engine.hpp"
#include "memory/strided.hpp"
#include "text/count_text.hpp"
#include "xorder/error.hpp"

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
InMemoryPlan::InMemoryPlan(const ArrayShape& source, std::span<const int> axes,
                           const std::vector<std::int64_t>& target_strides)
    : strided_(std::make_unique<StridedCopy>(source, axes, target_strides)),
      engine_(make_engine(*strided_)) {}
InMemoryPlan::InMemoryPlan(InMemoryPlan&&) noexcept = default;
InMemoryPlan& InMemoryPlan::operator=(InMemoryPlan&&) noexcept = default;
InMemoryPlan::~InMemoryPlan() = default;

void InMemoryPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  if (strided_) {
    source += strided_->source_start;
    target += strided_->target_start;
  }
  memory::perform(*engine_, bytes(), threads, source, target);
}

void InMemoryPlan::check(std::span<const std::byte> array) const {
  if (strided_) throw InputError("the arrays of a plan with strides are given by pointers");
  if (array.size() != bytes())
    throw InputError(fmt::format("an array of {}, where the plan is for {}", count_text(array.size(), "byte"),
                                 count_text(bytes(), "byte")));
}

void InMemoryPlan::execute_checked(std::span<const std::byte> source, std::span<std::byte> target,
                                   unsigned threads) const {
  check(source);
  check(target);
  if (bytes() != 0 && overlap(source.data(), target.data()))
    throw InputError("the source and the target overlap");
  execute(source.data(), target.data(), threads);
}

std::uint64_t InMemoryPlan::bytes() const { return strided_ ? strided_->bytes : what_.bytes(); }

bool InMemoryPlan::overlap(const std::byte* source, const std::byte* target) const {
  if (strided_) return strided_->overlap(source, target);
  const auto a = reinterpret_cast<std::uintptr_t>(source), b = reinterpret_cast<std::uintptr_t>(target);
  return (a < b ? b - a : a - b) < bytes();
}

InMemoryPlan::InPlace& InMemoryPlan::in_place() const {
  if (strided_) throw InputError("a plan with strides does not permute in place");
  return *in_place_;
}

void InMemoryPlan::execute_in_place(std::byte* array, unsigned threads) const {
  InPlace& planned = in_place();
  if (stays(what_) || bytes() == 0) return;
  const InPlaceEngine& engine = planned.engine(what_);
  const unsigned most = count_threads(bytes(), threads);
  Workspace workspace(engine.needs(), most);
  engine.perform(array, most, workspace);
}

std::string InMemoryPlan::describe() const { return engine_->describe(); }
std::string InMemoryPlan::describe_in_place() const {
  InPlace& planned = in_place();
  return stays(what_) || bytes() == 0 ? "nothing moves" : planned.engine(what_).describe();
}

void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  InMemoryPlan(what).execute(source, target, threads);
}
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads) {
  InMemoryPlan(what).execute_in_place(array, threads);
}

}  // namespace xorder::memory
