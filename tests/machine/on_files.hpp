// What tests of virtual processors share: files of noise, and what should become of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::test {

/// Whole numbers, so that sums are exact.
inline schedule::LinkTimes random_times(Random& random) {
  return {random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, random.in(0, 1) == 1};
}

class OnFiles : public ::testing::Test {
 protected:
  io::ArrayFile input(const std::string& data, std::vector<std::uint64_t> extents,
                      std::uint64_t element_bytes, const std::string& name = "in.raw") {
    write_file(scratch_ / name, data);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(element_bytes));
    layout.extents = std::move(extents);
    return io::open_array(scratch_ / name, layout);
  }
  static std::string noise(std::uint64_t bytes, Random& random) {
    std::string data(bytes, '\0');
    random.fill(data.data(), bytes);
    return data;
  }
  /// By the definition.
  static std::string reordered(const Reordering& what, const std::string& data) {
    std::string result(data.size(), '\0');
    const std::size_t w = what.element_bytes;
    for (std::uint64_t x = 0; x < what.elements(); ++x) {
      std::memcpy(result.data() + what.target_index(x) * w, data.data() + x * w, w);
    }
    return result;
  }
  const ScratchDirectory scratch_;
};

}  // namespace xorder::test
