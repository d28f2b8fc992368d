#include "xorder/permutation/expression.hpp"
#include "fuzz.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {"gray^-1 * bitreverse", "morton(2) * xor(0x155)",
          "transpose(4,8)^3",     "(reverse * shuffle)^-2 * rotate(3)",
          "identity * unshuffle", "hilbert(2)"};
}

void parse(std::string_view input) {
  for (const int n : {12, 63}) {
    const gf2::AffineMap map = parse_expression(input, n);
    must(map.inverse() * map == gf2::AffineMap::identity(n));
  }
}

}  // namespace xorder::fuzz
