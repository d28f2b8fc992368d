#include "factors.hpp"

#include <fmt/format.h>

#include "arguments.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {

int lowest_processor_bit(int bits, std::uint64_t processors, const std::string& layout) {
  const int p = exact_lg(processors, "--processors");
  if (p > bits) {
    throw InputError(fmt::format("--processors is {}, but there are only 2^{} elements", processors, bits));
  }
  return parse_layout(layout, "--layout").value_or(bits - p);
}

std::unique_ptr<schedule::Rounds> make_rounds(const gf2::AffineMap& map, std::uint64_t processors,
                                              const std::string& layout) {
  const int f = lowest_processor_bit(map.bits(), processors, layout);
  return std::make_unique<schedule::Rounds>(map, exact_lg(processors, "--processors"), f);
}

Factors named(const schedule::RoundFactors& factors) {
  return {{"T, trailer", factors.trailer},
          {"R, reducer", factors.reducer},
          {"Π, swapper", factors.swapper},
          {"W, within the processors", factors.within},
          {"V, across them", factors.across}};
}

std::vector<std::string> as_lines(const std::string& name, const gf2::BitMatrix& matrix) {
  std::vector<std::string> lines = {name};
  for (int i = 0; i < matrix.rows(); ++i) {
    lines.emplace_back("  ");
    for (int j = 0; j < matrix.cols(); ++j) lines.back() += matrix.at(i, j) ? " 1" : " .";
  }
  return lines;
}

nlohmann::ordered_json factors_as_json(const Factors& factors) {
  nlohmann::ordered_json json;
  for (const auto& [name, matrix] : factors) {
    std::vector<std::string> rows(static_cast<std::size_t>(matrix.rows()));
    for (int i = 0; i < matrix.rows(); ++i) {
      for (int j = 0; j < matrix.cols(); ++j)
        rows[static_cast<std::size_t>(i)] += matrix.at(i, j) ? '1' : '0';
    }
    json[name.substr(0, name.find(','))] = rows;
  }
  return json;
}

}  // namespace xorder::cli
