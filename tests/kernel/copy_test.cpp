#include <gtest/gtest.h>

#include <string>

#include "kernel/instruction_sets.hpp"
#include "kernel/micro.hpp"
#include "seed.hpp"

namespace xorder::kernel {
namespace {

// From any place to any place, within lines and across some of them. Nothing beside the target changes.
TEST(CopyFunction, OfEveryLengthAtEveryPlace) {
  test::Random random;
  SEED_TRACE(random);
  test::with_every_instruction_set([&] {
    for (const bool streamed : {false, true}) {
      const CopyFunction copy = copy_function(streamed);
      for (std::size_t bytes = 0; bytes < 4 * line_bytes; ++bytes) {
        std::string from(6 * line_bytes, '\0'), to(6 * line_bytes, '\0');
        random.fill(from.data(), from.size());
        random.fill(to.data(), to.size());
        const auto source = random.in(std::size_t{0}, line_bytes),
                   target = random.in(std::size_t{0}, line_bytes);
        std::string expected = to;
        expected.replace(target, bytes, from, source, bytes);
        copy(reinterpret_cast<std::byte*>(to.data()) + target,
             reinterpret_cast<const std::byte*>(from.data()) + source, bytes);
        finish_streams();
        ASSERT_EQ(to, expected) << bytes << " bytes from " << source << " to " << target;
      }
    }
  });
}

}  // namespace
}  // namespace xorder::kernel
