#include "work/team.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "xorder/error.hpp"

namespace xorder::work {
namespace {

std::string as_bytes(const std::vector<std::uint64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)};
}

std::uint64_t number(const std::string& bytes, std::size_t i) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

}  // namespace

std::vector<std::uint64_t> Team::sums(const std::vector<std::uint64_t>& mine) {
  std::vector<std::uint64_t> result(mine.size(), 0);
  for (const std::string& numbers : share(as_bytes(mine))) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += number(numbers, i);
  }
  return result;
}

std::uint64_t Team::least(std::uint64_t mine) {
  std::uint64_t result = mine;
  for (const std::string& bytes : share(as_bytes({mine}))) result = std::min(result, number(bytes, 0));
  return result;
}

std::uint64_t Team::most(std::uint64_t mine) {
  std::uint64_t result = mine;
  for (const std::string& bytes : share(as_bytes({mine}))) result = std::max(result, number(bytes, 0));
  return result;
}

int lg_parts(const Team& team) {
  const auto members = static_cast<unsigned>(team.size());
  if (std::has_single_bit(members)) return std::countr_zero(members);
  throw InputError(fmt::format(
      "for an array in parts the number of processes must be a power of two, not {}; use {}, or put the "
      "array into one file that all can open, which any number of processes can permute",
      members, std::bit_floor(members)));
}

void check_same(const Reordering& mine, Team& team) {
  const std::string text =
      fmt::format("{} {} {} {} {} {}", mine.element_bytes, mine.extents, mine.order, mine.mapped.value_or(-1),
                  mine.map.matrix.columns(), mine.map.complement);
  if (team.from_first(text) != text)
    throw InputError("the permutation is not the one of rank 0; all ranks must be given the same");
}

}  // namespace xorder::work
