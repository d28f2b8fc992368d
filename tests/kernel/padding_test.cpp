#include <gtest/gtest.h>

#include <string>

#include "kernel/instruction_sets.hpp"
#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/padding.hpp"
#include "seed.hpp"

namespace xorder::kernel {
namespace {

std::byte* raw(std::string& s) { return reinterpret_cast<std::byte*>(s.data()); }

// To cells and back, any number of lines, with exact strings (of which the address sanitizer knows the ends)
// and with bytes on both sides that must not change.
TEST(Padding, ToCellsAndBack) {
  test::Random random;
  SEED_TRACE(random);
  constexpr std::size_t margin = 70;
  test::with_every_instruction_set([&] {
    for (const std::size_t w : {3, 5, 6, 7}) {
      const Padding padding = padding_functions(w);
      const std::size_t cell = cell_bytes(w);
      for (std::size_t lines = 1; lines <= 40; ++lines) {
        const std::size_t count = lines * line_bytes / cell;
        std::string elements(count * w, '\0'), cells(count * cell, '\0');
        random.fill(elements.data(), elements.size());
        padding.pad(raw(elements), raw(cells), count);
        std::string back(count * w + 2 * margin, '\0');
        random.fill(back.data(), back.size());
        std::string expected = back;
        expected.replace(margin, count * w, elements);
        padding.unpad(raw(cells), raw(back) + margin, count);
        ASSERT_EQ(back, expected) << count << " elements of " << w << " bytes";
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(cells.substr(i * cell, w), elements.substr(i * w, w)) << i << " of " << count;
        std::string beside(count * cell + 2 * margin, '\0');
        random.fill(beside.data(), beside.size());
        const std::string before = beside;
        padding.pad(raw(elements), raw(beside) + margin, count);
        ASSERT_EQ(beside.substr(0, margin), before.substr(0, margin));
        ASSERT_EQ(beside.substr(beside.size() - margin), before.substr(before.size() - margin));
      }
    }
  });
  for (const std::size_t w : {1, 2, 4, 8, 9, 12, 15, 16, 24})
    EXPECT_EQ(padding_functions(w).pad, nullptr) << w;
}

}  // namespace
}  // namespace xorder::kernel
