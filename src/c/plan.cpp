#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "c/border.hpp"
#include "c/options.hpp"
#include "c/permutation.hpp"
#include "xorder/memory/permute.hpp"

struct xorder_plan {
  explicit xorder_plan(const xorder::Reordering& what)
      : bytes(what.bytes()), plan(what), text(plan.describe()) {}

  std::size_t bytes;
  xorder::memory::InMemoryPlan plan;
  std::string text;
};

namespace xorder::c {
namespace {

bool overlap(const void* one, const void* other, std::size_t bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(one), b = reinterpret_cast<std::uintptr_t>(other);
  return (a < b ? b - a : a - b) < bytes;
}

}  // namespace
}  // namespace xorder::c

using namespace xorder::c;

int xorder_plan_create(xorder_plan** out, const xorder_permutation* permutation) {
  return made(out, [&] {
    require(permutation, "permutation");
    return std::make_unique<xorder_plan>(permutation->what);
  });
}

int xorder_plan_execute(const xorder_plan* plan, const void* source, void* target, int threads) {
  return guarded([&] {
    require(plan, "plan");
    const unsigned count = checked_threads(threads);
    if (plan->bytes == 0) return;
    require(source, "source");
    require(target, "target");
    if (overlap(source, target, plan->bytes)) throw ArgumentError("source and target overlap");
    plan->plan.execute(static_cast<const std::byte*>(source), static_cast<std::byte*>(target), count);
  });
}

int xorder_plan_execute_in_place(const xorder_plan* plan, void* array, int threads) {
  return guarded([&] {
    require(plan, "plan");
    const unsigned count = checked_threads(threads);
    if (plan->bytes == 0) return;
    require(array, "array");
    plan->plan.execute_in_place(static_cast<std::byte*>(array), count);
  });
}

const char* xorder_plan_text(const xorder_plan* plan) { return plan == nullptr ? "" : plan->text.c_str(); }

void xorder_plan_free(xorder_plan* plan) { delete plan; }
