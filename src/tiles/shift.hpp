// A cyclic shift of any number of elements, in one pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::tiles {

/// Element i goes to i + distance, modulo their number: the last ones come first. Requires distance to be
/// below that number, or 0. Throws InputError for arrays that are not in C order, and as the constructor of
/// Job.
std::unique_ptr<work::Work> shift(const io::ArrayFile& input, std::uint64_t distance,
                                  std::filesystem::path output, work::Options options);

}  // namespace xorder::tiles
