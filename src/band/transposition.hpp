// The transposition of banded matrices, cut as the caller says.
#pragma once

#include "plan/bands/band_plan.hpp"
#include "xorder/band/transposition.hpp"

namespace xorder::band {

/// The same with given sizes of the parts, for tests.
std::unique_ptr<work::Work> transposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                          std::filesystem::path output, work::Options options,
                                          const plan::BandTiling& tiling);

}  // namespace xorder::band
