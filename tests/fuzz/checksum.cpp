#include "xorder/verify/checksum.hpp"

#include "fuzz.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {verify::Checksum{5, {{1, 2}}}.text(), verify::Checksum{(1 << 20) + 1, {{~0ull, 0}, {0, 0}}}.text(),
          verify::Checksum{}.text()};
}

void parse(std::string_view input) {
  const verify::Checksum sum = verify::parse_checksum(std::string(input), "it");
  must(verify::parse_checksum(sum.text(), "again") == sum && sum.differences(sum).empty());
}

}  // namespace xorder::fuzz
