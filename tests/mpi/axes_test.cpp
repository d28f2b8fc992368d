#include <numeric>

#include "arrays.hpp"

namespace xorder::test {
namespace {

class MpiAxes : public testing::Test {
 protected:
  void expect(const std::vector<std::uint64_t>& shape, const std::vector<int>& axes, std::uint64_t size,
              std::uint64_t slice = 0) {
    SCOPED_TRACE(testing::Message() << "shape " << testing::PrintToString(shape) << ", axes "
                                    << testing::PrintToString(axes) << ", elements of " << size
                                    << " bytes, slices of " << slice);
    const xorder_mpi_options options = sliced(slice);
    expect_axes(axes_plan(shape, axes, ranks_).get(), shape, axes, MPI_COMM_WORLD, size, random_(), &options);
  }
  const int ranks_ = ranks_in(MPI_COMM_WORLD);
  Random random_;
};

TEST_F(MpiAxes, AnyShape) {
  SEED_TRACE(random_);
  for (int i = 0; i < 40; ++i) {
    const auto rank = random_.in(std::size_t{1}, std::size_t{4});
    std::vector<std::uint64_t> shape(rank);
    for (auto& extent : shape) extent = random_.in(std::uint64_t{1}, rank < 3 ? 60u : 14u);
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    expect(shape, axes, any_size(random_), any_slice(random_));
  }
}

TEST_F(MpiAxes, Degenerate) {
  SEED_TRACE(random_);
  expect({}, {}, 8);  // one element, which rank 0 does not hold unless it is the only one
  expect({1, 1}, {1, 0}, 8);
  expect({0, 5}, {1, 0}, 8);
  expect({5, 0}, {1, 0}, 8);
  expect({3, 4, 5}, {0, 1, 2}, 8);   // the identity
  expect({13, 4, 5}, {0, 2, 1}, 8);  // nothing changes rank
  expect({1, 1000}, {1, 0}, 3);      // from one rank to all
  expect({1000, 1}, {1, 0}, 3);      // and back
  expect({37, 5}, {-1, 0}, 8);
}

// Pieces that share cache lines with those of other ranks, in many groups.
TEST_F(MpiAxes, ShortPieces) {
  SEED_TRACE(random_);
  expect({7, 300'007}, {1, 0}, 8);
  expect({100, 3, 4001}, {2, 0, 1}, 1);
  expect({16, 101, 40}, {1, 2, 0}, 3, 1000);
}

// Pieces that are received where they belong.
TEST_F(MpiAxes, LongPieces) {
  SEED_TRACE(random_);
  for (const std::uint64_t slice : {0, 30'000}) {
    expect({35, 3, 50}, {2, 0, 1}, 1500, slice);
    expect({50, 9}, {1, 0}, 20'000, slice);
  }
}

TEST_F(MpiAxes, Matrices) {
  SEED_TRACE(random_);
  expect({701, 1009}, {1, 0}, 8);
  expect({16, 20'011}, {1, 0}, 4);
  expect({20'011, 16}, {1, 0}, 4);
}

TEST_F(MpiAxes, SlabsCoverTheAxis) {
  for (const std::uint64_t extent :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, (std::uint64_t{1} << 62) + 1}) {
    EXPECT_EQ(xorder_mpi_slab_begin(extent, ranks_, 0), 0);
    EXPECT_EQ(xorder_mpi_slab_begin(extent, ranks_, ranks_), extent);
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto rows =
          xorder_mpi_slab_begin(extent, ranks_, rank + 1) - xorder_mpi_slab_begin(extent, ranks_, rank);
      EXPECT_LE(rows - extent / static_cast<unsigned>(ranks_), 1);
    }
  }
}

}  // namespace
}  // namespace xorder::test
