#include "work/team.hpp"

#include <algorithm>
#include <cstring>

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

}  // namespace xorder::work
