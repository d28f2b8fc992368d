#include "plan/tiles/chunks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plan/plan.hpp"
#include "plan/reference.hpp"

namespace xorder::plan {
namespace {

// Asks the tiling where every element of a group goes, and compares with the chunks that the group is said to
// touch.
TEST(Chunks, AreExactlyThoseThatAGroupTouches) {
  test::Random random;
  SEED_TRACE(random);
  int cut = 0;
  for (int i = 0; i < 500; ++i) {
    Setting setting;
    setting.device.points = {{std::uint64_t{1} << random.in(5, 13), 1e9, 1e9}};
    setting.group_bytes = std::uint64_t{1} << random.in(6, 14);
    const Plan plan = make_plan(test::random_reordering(random, 4), setting);
    const Tiling& tiling = plan.passes.at(0).tiling;
    const auto shape = chunk_shape(tiling.what(), tiling.choice(), tiling.target_shape(), random.in(1, 100));
    ASSERT_GE(shape.per_run * shape.elements, tiling.target_shape().run_elements);
    cut += shape.per_run > 1;
    for (std::uint64_t t = 0; t < tiling.tile_count(); t += 1 + tiling.tile_count() / 5) {
      const Tile tile = tiling.tile(t);
      std::vector<plan::Run> source_runs, target_runs;
      tiling.target_runs(tile, target_runs);
      std::map<std::uint64_t, std::uint64_t> run_at;  // by offset
      for (std::uint64_t r = 0; r < target_runs.size(); ++r) {
        if (target_runs[r].length > 0) run_at[target_runs[r].offset] = r;
      }
      for (std::uint64_t g = 0; g < tile.groups; ++g) {
        const Group group = tiling.group(tile, g);
        tiling.source_runs(group, source_runs);
        std::set<std::uint64_t> touched;
        for (const plan::Run& run : source_runs) {
          for (std::uint64_t k = 0; k < run.length; ++k) {
            const std::uint64_t y = tiling.what().target_index(run.offset + k);
            const auto& [offset, number] = *std::prev(run_at.upper_bound(y));
            touched.insert(number * shape.per_run + (y - offset) / shape.elements);
          }
        }
        std::vector<std::uint64_t> chunks;
        target_chunks(tiling, shape, group, chunks);
        ASSERT_EQ(std::set<std::uint64_t>(chunks.begin(), chunks.end()), touched);
        ASSERT_EQ(chunks.size(), touched.size()) << "a chunk is listed twice";
      }
    }
  }
  EXPECT_GT(cut, 10) << "too few cases had more than one chunk a run";
}

}  // namespace
}  // namespace xorder::plan
