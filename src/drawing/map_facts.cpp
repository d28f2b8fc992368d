#include "drawing/map_facts.hpp"

#include <fmt/format.h>

#include "plan/tiles/factor.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::drawing {
namespace {

nlohmann::ordered_json matrix_json(const gf2::AffineMap& map) {
  return {{"columns", map.matrix.columns()}, {"complement", map.complement}};
}

}  // namespace

int lg_of_elements(std::uint64_t elements, const std::string& name, int n) {
  const int lg = exact_lg(elements, name);
  if (lg > n) {
    throw InputError(fmt::format("{} is {}, but there are only {} = 2^{} elements", name, elements,
                                 std::uint64_t{1} << n, n));
  }
  return lg;
}

Passes passes_of(const gf2::AffineMap& map, std::uint64_t block, std::optional<std::uint64_t> memory,
                 const std::string& option) {
  Passes p;
  p.lg_block = lg_of_elements(block, option + "block", map.bits());
  const int rank = gf2::rank_gamma(map.matrix, p.lg_block);
  const int one_pass = p.lg_block + rank;
  p.lg_memory = memory ? lg_of_elements(*memory, option + "memory", map.bits()) : one_pass;
  if (p.lg_memory < one_pass && p.lg_memory <= p.lg_block) {
    throw InputError(
        fmt::format("{}memory is {}; it must be more than one block of {} elements, because blocks are split",
                    option, *memory, block));
  }
  p.factors = plan::factor(map, p.lg_block, p.lg_memory);
  for (int m = one_pass - 1; m > p.lg_block; --m)
    p.passes_below.push_back(plan::pass_count(map, p.lg_block, m));
  return p;
}

nlohmann::ordered_json map_json(const gf2::AffineMap& map, const std::optional<Passes>& passes) {
  nlohmann::ordered_json json{{"bits", map.bits()}};
  json.update(matrix_json(map));
  json["inverse"] = matrix_json(map.inverse());
  json["rank_gamma"] = nlohmann::ordered_json::array();
  for (int b = 0; b <= map.bits(); ++b) json["rank_gamma"].push_back(gf2::rank_gamma(map.matrix, b));
  if (passes) {
    json["block"] = std::uint64_t{1} << passes->lg_block;
    json["memory"] = std::uint64_t{1} << passes->lg_memory;
    json["passes"] = passes->factors.size();
    json["factors"] = nlohmann::ordered_json::array();
    for (const auto& factor : passes->factors) json["factors"].push_back(matrix_json(factor));
  }
  return json;
}

}  // namespace xorder::drawing
