// The files of bands: what they must hold, and the frame of a run that reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "work/frame.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::band {

/// The bands that an input holds: all of them if there is one input, or else one.
std::span<const Band> bands_in(std::size_t input, std::size_t inputs, std::span<const Band> bands);

/// Makes the frame for the transposition of these bands. `files` times the data's size is what the page cache
/// has to hold. Throws InputError unless there is one input, or one for each band, and all have the same type
/// and the shapes of their bands (permutation/band.hpp) in C order. A single band may also lie on one axis,
/// or have an axis of extent 1 before its own. Throws as work::settle() does.
work::Frame frame_of(std::vector<io::ArrayFile> inputs, std::span<const Band> bands,
                     std::filesystem::path output, work::Options options, std::uint64_t files);

}  // namespace xorder::band
