// The functions of xorder_mpi.h.
#include <algorithm>

#include "c/arguments.hpp"
#include "c/border.hpp"
#include "mpi/perform.hpp"
#include "mpi/plan.hpp"
#include "xorder/permutation/expression.hpp"

using namespace xorder;

struct xorder_mpi_plan {
  std::unique_ptr<const mpi::Plan> plan;
};

namespace {

std::unique_ptr<xorder_mpi_plan> plan_of(std::unique_ptr<const mpi::Plan> plan) {
  return std::unique_ptr<xorder_mpi_plan>(new xorder_mpi_plan{std::move(plan)});
}

const mpi::Plan* plan_for(const xorder_mpi_plan* plan, int rank) {
  return plan && rank >= 0 && rank < plan->plan->ranks() ? plan->plan.get() : nullptr;
}

}  // namespace

int xorder_mpi_version(void) { return XORDER_VERSION; }

const char* xorder_mpi_status_text(int status) {
  return status == XORDER_ERROR_MPI ? "MPI failed" : xorder_status_text(status);
}

const char* xorder_mpi_last_error(void) { return xorder_last_error(); }
int xorder_mpi_last_errno(void) { return xorder_last_errno(); }

int xorder_mpi_plan_axes(xorder_mpi_plan** out, int dimensions, const uint64_t* shape, const int* axes,
                         int ranks) {
  return c::made(out, [&] {
    const std::size_t count = c::checked_rank(dimensions);
    if (count != 0) c::require(shape, "shape");
    return plan_of(mpi::plan_slabs({shape, count}, {axes, axes ? count : 0}, ranks));
  });
}

int xorder_mpi_plan_bmmc(xorder_mpi_plan** out, int n, const uint64_t* columns, uint64_t complement,
                         int ranks, int lowest_rank_bit) {
  return c::made(out, [&] {
    if (c::checked_bits(n) != 0) c::require(columns, "columns");
    const gf2::BitMatrix matrix(n, {columns, columns + n});
    return plan_of(mpi::plan_rounds({matrix, c::checked_complement(complement, n)}, ranks, lowest_rank_bit));
  });
}

int xorder_mpi_plan_expression(xorder_mpi_plan** out, const char* text, int n, int ranks,
                               int lowest_rank_bit) {
  return c::made(out, [&] {
    c::require(text, "text");
    return plan_of(mpi::plan_rounds(parse_expression(text, c::checked_bits(n)), ranks, lowest_rank_bit));
  });
}

uint64_t xorder_mpi_plan_before(const xorder_mpi_plan* plan, int rank) {
  const mpi::Plan* const known = plan_for(plan, rank);
  return known ? known->elements_before(rank) : 0;
}

uint64_t xorder_mpi_plan_after(const xorder_mpi_plan* plan, int rank) {
  const mpi::Plan* const known = plan_for(plan, rank);
  return known ? known->elements_after(rank) : 0;
}

uint64_t xorder_mpi_plan_room(const xorder_mpi_plan* plan, int rank) {
  return std::max(xorder_mpi_plan_before(plan, rank), xorder_mpi_plan_after(plan, rank));
}

void xorder_mpi_plan_free(xorder_mpi_plan* plan) { delete plan; }

uint64_t xorder_mpi_slab_begin(uint64_t extent, int ranks, int rank) {
  return mpi::slab_begin(extent, ranks, rank);
}

int xorder_mpi_perform(const xorder_mpi_plan* plan, MPI_Comm comm, uint64_t element_bytes, void* data,
                       void* temp, const xorder_mpi_options* options) {
  return c::guarded([&] {
    mpi::perform(comm, {.plan = plan ? plan->plan.get() : nullptr,
                        .element_bytes = element_bytes,
                        .data = static_cast<std::byte*>(data),
                        .temp = static_cast<std::byte*>(temp),
                        .options = options});
  });
}

int xorder_mpi_refuse(MPI_Comm comm, const char* why) {
  return c::guarded([&] { mpi::perform(comm, {.refused = why ? why : "this rank cannot take part"}); });
}
