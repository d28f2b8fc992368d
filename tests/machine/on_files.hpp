// What tests of virtual processors share: files of noise, and what should become of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::test {

class OnFiles : public ::testing::Test {
 protected:
  io::ArrayFile input(const std::string& data, std::vector<std::uint64_t> extents,
                      std::uint64_t element_bytes) {
    write_file(scratch_ / "in.raw", data);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(element_bytes));
    layout.extents = std::move(extents);
    return io::open_array(scratch_ / "in.raw", layout);
  }
  static std::string noise(std::uint64_t bytes, Random& random) {
    std::string data(bytes, '\0');
    for (std::uint64_t i = 0; i < bytes; i += 8) {
      const std::uint64_t word = random();
      data.replace(i, std::min<std::uint64_t>(8, bytes - i), reinterpret_cast<const char*>(&word),
                   std::min<std::uint64_t>(8, bytes - i));
    }
    return data;
  }
  /// By the definition.
  static std::string reordered(const Reordering& what, const std::string& data) {
    std::string result(data.size(), '\0');
    for (std::uint64_t x = 0; x < what.elements(); ++x) {
      result.replace(what.target_index(x) * what.element_bytes, what.element_bytes, data,
                     x * what.element_bytes, what.element_bytes);
    }
    return result;
  }
  const ScratchDirectory scratch_;
};

}  // namespace xorder::test
