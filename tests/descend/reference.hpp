// What tests of descend and ascend computations share: what they compute by definition, and computations that
// mix up everything that they are given.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "seed.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::test::plus_minus {

using std::uint64_t;
using xorder::descend::Direction;
using xorder::descend::Elementwise;

inline constexpr Direction both[] = {Direction::descend, Direction::ascend};

// A function of everything that it is given, and of nothing twice.
inline uint64_t mixed(int b, uint64_t i, uint64_t x, uint64_t plus, uint64_t minus) {
  return x * 0x9E3779B97F4A7C15u + plus * 0xC2B2AE3D27D4EB4Fu + (minus << 7 ^ minus >> 3) +
         (i << 6 | static_cast<uint64_t>(b)) * 0x165667B19E3779F9u;
}

template <typename T, typename F>
std::vector<T> by_definition(std::vector<T> a, Direction direction, const F& f) {
  const int n = std::countr_zero(a.size());
  const uint64_t mask = a.size() - 1;
  for (int t = 0; t < n; ++t) {
    const int b = direction == Direction::ascend ? t : n - 1 - t;
    const uint64_t d = uint64_t{1} << b;
    std::vector<T> next(a.size());
    for (uint64_t i = 0; i < a.size(); ++i) next[i] = f(b, i, a[i], a[(i + d) & mask], a[(i - d) & mask]);
    a = std::move(next);
  }
  return a;
}

inline std::vector<uint64_t> random_numbers(Random& random, uint64_t count) {
  std::vector<uint64_t> a(count);
  for (uint64_t& x : a) x = random();
  return a;
}

template <typename T>
std::byte* bytes(std::vector<T>& a) {
  return reinterpret_cast<std::byte*>(a.data());
}

// Elements of 8 bytes, records of 8 or of 24 with a hidden part.
template <Direction D>
struct Mixed final : Elementwise<uint64_t, decltype(&mixed)> {
  Mixed() : Elementwise(D, &mixed) {}
  void load(uint64_t first, std::size_t count, std::span<const std::byte* const>,
            std::byte* records) override {
    for (std::size_t k = 0; k < count; ++k) reinterpret_cast<uint64_t*>(records)[k] += first + k;
  }
  void store(uint64_t, std::size_t count, std::byte* records, std::byte*) override {
    for (std::size_t k = 0; k < count; ++k) reinterpret_cast<uint64_t*>(records)[k] ^= 99;
  }
};

struct Triple {
  uint64_t x, y, z;
};
inline Triple mixed_triple(int b, uint64_t i, const Triple& x, const Triple& plus, const Triple& minus) {
  return {mixed(b, i, x.x, plus.y, minus.z), mixed(b, i, x.y, plus.z, minus.x), x.z + plus.x};
}
struct Triples final : Elementwise<Triple, decltype(&mixed_triple)> {
  explicit Triples(Direction direction) : Elementwise(direction, &mixed_triple) {}
  void load(uint64_t, std::size_t count, std::span<const std::byte* const> inputs,
            std::byte* records) override {
    for (const std::byte* input : inputs) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input) % 8, 0u);
    for (std::size_t k = 0; k < count; ++k) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, inputs[0] + 8 * k, 8);
      std::memcpy(&y, inputs[1] + 8 * k, 8);
      reinterpret_cast<Triple*>(records)[k] = {x, y, 1};
    }
  }
  void store(uint64_t, std::size_t count, std::byte* records, std::byte* output) override {
    for (std::size_t k = 0; k < count; ++k) std::memcpy(output + 8 * k, records + k * sizeof(Triple), 8);
  }
};

template <Direction D>
std::vector<uint64_t> expected_of(std::vector<uint64_t> a) {
  for (uint64_t i = 0; i < a.size(); ++i) a[i] += i;
  a = by_definition(a, D, mixed);
  for (uint64_t& x : a) x ^= 99;
  return a;
}

}  // namespace xorder::test::plus_minus
