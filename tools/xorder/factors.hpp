// The rounds of a permutation on processors and its factors T, R, Π, W and V, which `xorder show` and
// `xorder schedule bmmc` print.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "schedule/rounds.hpp"

namespace xorder::cli {

/// From --processors and --layout: major, minor or a number. Throws InputError if these do not fit the map.
std::unique_ptr<schedule::Rounds> make_rounds(const gf2::AffineMap& map, std::uint64_t processors,
                                              const std::string& layout);
/// The lowest bit of a processor's number in an index.
int lowest_processor_bit(int bits, std::uint64_t processors, const std::string& layout);

/// Matrices with names such as "T, trailer".
using Factors = std::vector<std::pair<std::string, gf2::BitMatrix>>;
Factors named(const schedule::RoundFactors& factors);

/// The name, and a line for each row: 1 for a one and a dot for a zero, so that the blocks of the theory are
/// visible.
std::vector<std::string> as_lines(const std::string& name, const gf2::BitMatrix& matrix);
/// {"T": ["0110", ..]}: the rows, column 0 first.
nlohmann::ordered_json factors_as_json(const Factors& factors);

}  // namespace xorder::cli
