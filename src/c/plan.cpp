#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c/border.hpp"
#include "c/options.hpp"
#include "c/permutation.hpp"
#include "xorder/memory/permute.hpp"

struct xorder_plan {
  explicit xorder_plan(xorder::memory::InMemoryPlan made) : plan(std::move(made)), text(plan.describe()) {}

  xorder::memory::InMemoryPlan plan;
  std::string text;
};

using namespace xorder::c;
using xorder::memory::InMemoryPlan;

int xorder_plan_create(xorder_plan** out, const xorder_permutation* permutation) {
  return made(out, [&] {
    require(permutation, "permutation");
    return std::make_unique<xorder_plan>(InMemoryPlan(permutation->what));
  });
}

int xorder_plan_create_strided(xorder_plan** out, const xorder_permutation* permutation,
                               const int64_t* source_strides, const int64_t* target_strides) {
  return made(out, [&] {
    require(permutation, "permutation");
    if (permutation->map) throw ArgumentError("strides go with permutations of axes, and this is a map");
    xorder::ArrayShape source = permutation->shape;
    const auto given = [&](const int64_t* strides) {
      return strides == nullptr ? std::vector<int64_t>()
                                : std::vector(strides, strides + source.extents.size());
    };
    source.strides = given(source_strides);
    return std::make_unique<xorder_plan>(InMemoryPlan(source, permutation->axes, given(target_strides)));
  });
}

int xorder_plan_execute(const xorder_plan* plan, const void* source, void* target, int threads) {
  return guarded([&] {
    require(plan, "plan");
    const unsigned count = checked_threads(threads);
    if (plan->plan.bytes() == 0) return;
    require(source, "source");
    require(target, "target");
    const auto* const from = static_cast<const std::byte*>(source);
    auto* const to = static_cast<std::byte*>(target);
    if (plan->plan.overlap(from, to)) throw ArgumentError("source and target overlap");
    plan->plan.execute(from, to, count);
  });
}

int xorder_plan_execute_in_place(const xorder_plan* plan, void* array, int threads) {
  return guarded([&] {
    require(plan, "plan");
    const unsigned count = checked_threads(threads);
    if (plan->plan.bytes() == 0) return;
    require(array, "array");
    plan->plan.execute_in_place(static_cast<std::byte*>(array), count);
  });
}

const char* xorder_plan_text(const xorder_plan* plan) { return plan == nullptr ? "" : plan->text.c_str(); }

void xorder_plan_free(xorder_plan* plan) { delete plan; }
