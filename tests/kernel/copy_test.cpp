#include <gtest/gtest.h>

#include <string>

#include "kernel/instruction_sets.hpp"
#include "kernel/vectors/micro.hpp"
#include "seed.hpp"

namespace xorder::kernel {
namespace {

// To every place in a line, from any place. Nothing beside the target changes.
TEST(CopyFunction, OfEveryLengthAtEveryPlace) {
  test::Random random;
  SEED_TRACE(random);
  test::with_every_instruction_set([&] {
    for (const bool streamed : {false, true}) {
      const CopyFunction copy = copy_function(streamed);
      for (std::size_t i = 0; i < 3 * line_bytes * line_bytes; ++i) {
        const std::size_t bytes = i / line_bytes, target = i % line_bytes;
        const std::size_t source = random.in(std::size_t{0}, line_bytes);
        std::string from(5 * line_bytes, '\0'), to(from);
        random.fill(from.data(), from.size());
        random.fill(to.data(), to.size());
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
