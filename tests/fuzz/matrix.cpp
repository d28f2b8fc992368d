#include "fuzz.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() { return {"100\n011\n001\nc 101\n", "# a comment\n1\n", "0 1\r\n1 0\r\n"}; }

void parse(std::string_view input) {
  const gf2::AffineMap map = parse_matrix(input, "it");
  must(map.inverse() * map == gf2::AffineMap::identity(map.bits()));
}

}  // namespace xorder::fuzz
