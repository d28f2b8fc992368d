// What every run from files to a file has, settled before anything is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "work/access.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

struct Frame {
  std::vector<io::ArrayFile> inputs;  ///< at least one
  Destination output;
  Options options;
  Circumstances circumstances;

  std::uint64_t memory() const { return circumstances.memory; }
  /// The processes that make one file together, or nullptr.
  Team* sharing() const { return options.parts ? nullptr : options.team; }
  const io::ArrayFile& input() const { return inputs.front(); }
  std::uint64_t input_bytes() const;
  io::Disk& disk() const;
};

/// An array of this type and shape, in the format that the path's name or else the input's says; the data of
/// a raw file begin at `offset`. Throws InputError for an .npy file with an offset, and for more than 2^63 −
/// 1 bytes.
Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents, std::uint64_t offset);

/// For an output of this type and shape. `working` as for circumstances(). Throws InputError if the memory is
/// too little for anything, or the output or scratch files could not be made: checks that need no new file.
Frame settle(std::vector<io::ArrayFile> inputs, std::filesystem::path output, const io::DType& dtype,
             const std::vector<std::uint64_t>& extents, Options options, std::uint64_t working);

}  // namespace xorder::work
