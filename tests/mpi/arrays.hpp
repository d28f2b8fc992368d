// Distributed arrays, and what should become of them by the definition.
//
// EXPECT only, never ASSERT: a rank that leaves a test early lets the others wait for it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "plan/reference.hpp"
#include "xorder_mpi.h"

namespace xorder::test {

struct FreePlan {
  void operator()(xorder_mpi_plan* plan) const { xorder_mpi_plan_free(plan); }
};
using MpiPlan = std::unique_ptr<xorder_mpi_plan, FreePlan>;

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int ranks_in(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

inline MpiPlan bmmc_plan(const gf2::AffineMap& map, int ranks, int lowest_rank_bit) {
  xorder_mpi_plan* plan = nullptr;
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan, map.bits(), map.matrix.columns().data(), map.complement, ranks,
                                 lowest_rank_bit),
            XORDER_OK)
      << xorder_mpi_last_error();
  return MpiPlan(plan);
}

inline MpiPlan axes_plan(const std::vector<std::uint64_t>& shape, const std::vector<int>& axes, int ranks) {
  xorder_mpi_plan* plan = nullptr;
  EXPECT_EQ(xorder_mpi_plan_axes(&plan, static_cast<int>(shape.size()), shape.data(), axes.data(), ranks),
            XORDER_OK)
      << xorder_mpi_last_error();
  return MpiPlan(plan);
}

/// Which element of the whole array is at a place of this rank.
using Contents = std::function<std::uint64_t(std::uint64_t place)>;

/// The rank's number is put into an index from bit `lowest_rank_bit` on.
inline Contents by_rank_bits(int rank, int ranks, int lowest_rank_bit) {
  const int p = std::countr_zero(static_cast<unsigned>(ranks));
  return [=](std::uint64_t place) {
    const std::uint64_t low = place & gf2::low_mask(lowest_rank_bit);
    return (place ^ low) << p | static_cast<std::uint64_t>(rank) << lowest_rank_bit | low;
  };
}

inline Contents from(std::uint64_t first) {
  return [=](std::uint64_t place) { return first + place; };
}

/// Byte k of element x, different for most.
inline std::byte byte_of(std::uint64_t x, std::uint64_t k, std::uint64_t seed) {
  std::uint64_t z = x * 0x9e3779b97f4a7c15 + (k / 8 + seed) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 29) * 0x94d049bb133111eb;
  return static_cast<std::byte>(z >> k % 8 * 8);
}

inline std::vector<std::byte> bytes_of(std::uint64_t count, std::uint64_t element_bytes,
                                       const Contents& element, std::uint64_t seed) {
  std::vector<std::byte> bytes(count * element_bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t x = element(i);
    for (std::uint64_t k = 0; k < element_bytes; ++k) bytes[i * element_bytes + k] = byte_of(x, k, seed);
  }
  return bytes;
}

/// Fills this rank's data with the elements of `before`, performs, and expects those of `after`. Guards
/// behind both arrays must stay.
inline void expect_performed(const xorder_mpi_plan* plan, MPI_Comm comm, std::uint64_t element_bytes,
                             const Contents& before, const Contents& after, std::uint64_t seed,
                             const xorder_mpi_options* options = nullptr) {
  constexpr std::size_t guard = 64;
  constexpr std::byte guarded{0xA5};
  const int rank = rank_in(comm);
  const std::size_t room = xorder_mpi_plan_room(plan, rank) * element_bytes;
  std::vector<std::byte> data = bytes_of(xorder_mpi_plan_before(plan, rank), element_bytes, before, seed);
  const auto expected = bytes_of(xorder_mpi_plan_after(plan, rank), element_bytes, after, seed);
  data.resize(room);
  data.resize(room + guard, guarded);
  std::vector<std::byte> temp(room);
  temp.resize(room + guard, guarded);
  EXPECT_EQ(xorder_mpi_perform(plan, comm, element_bytes, data.data(), temp.data(), options), XORDER_OK)
      << xorder_mpi_last_error();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), data.begin()));
  const auto intact = [&](const std::vector<std::byte>& array) {
    return std::all_of(array.end() - guard, array.end(), [](std::byte b) { return b == guarded; });
  };
  EXPECT_TRUE(intact(data));
  EXPECT_TRUE(intact(temp));
}

inline void expect_bmmc(const xorder_mpi_plan* plan, const gf2::AffineMap& map, MPI_Comm comm,
                        int lowest_rank_bit, std::uint64_t element_bytes, std::uint64_t seed,
                        const xorder_mpi_options* options = nullptr) {
  const Contents index = by_rank_bits(rank_in(comm), ranks_in(comm), lowest_rank_bit);
  const gf2::AffineMap inverse = map.inverse();
  expect_performed(
      plan, comm, element_bytes, index, [&](std::uint64_t place) { return inverse(index(place)); }, seed,
      options);
}

inline void expect_axes(const xorder_mpi_plan* plan, const std::vector<std::uint64_t>& shape,
                        const std::vector<int>& axes, MPI_Comm comm, std::uint64_t element_bytes,
                        std::uint64_t seed, const xorder_mpi_options* options = nullptr) {
  const Reordering what = transposition({shape, 1, Order::c}, axes);
  std::vector<std::uint64_t> source_of(what.elements());
  for (std::uint64_t x = 0; x < what.elements(); ++x) source_of[what.target_index(x)] = x;
  const auto first = [&](std::uint64_t extent) {
    const std::uint64_t begin = xorder_mpi_slab_begin(extent, ranks_in(comm), rank_in(comm));
    return extent == 0 ? 0 : begin * (what.elements() / extent);
  };
  const std::uint64_t before = shape.empty() ? 0 : first(shape[0]);
  const std::uint64_t after = shape.empty() ? 0 : first(shape[static_cast<std::size_t>(what.order[0])]);
  expect_performed(
      plan, comm, element_bytes, from(before), [&](std::uint64_t place) { return source_of[after + place]; },
      seed, options);
}

inline xorder_mpi_options sliced(std::uint64_t bytes) {
  xorder_mpi_options options{};
  options.size = sizeof options;
  options.slice_bytes = bytes;
  return options;
}

/// A slice that cuts messages of some kilobytes in many ways, or does not cut them.
inline std::uint64_t any_slice(Random& random) {
  return std::vector<std::uint64_t>{1, 7, 64, 1000, 4096, 0, 0}[random.in(std::size_t{0}, std::size_t{6})];
}
inline std::uint64_t any_size(Random& random) {
  return std::vector<std::uint64_t>{
      1, 2, 3, 4, 8, 12, 16, 40, 500}[random.in(std::size_t{0}, std::size_t{8})];
}

}  // namespace xorder::test
