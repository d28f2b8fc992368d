// Checks that one file holds what a reordering makes of others, whoever made it.
//
//   const auto in = xorder::io::open_array("a.npy", {}), out = xorder::io::open_array("b.npy", {});
//   const auto what = xorder::transposition(in.description.shape(), {});
//   if (!xorder::verify::compare({in}, what, out).empty()) ..       // b.npy is not a.npy transposed
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/work/work.hpp"

namespace xorder::verify {

/// A part of the output in which something differs: the smallest that is told apart, or several that follow
/// each other. There are up to 4096 of 4 KiB or more.
struct Difference {
  std::uint64_t first_byte = 0, end_byte = 0;        ///< in the file
  std::uint64_t first_element = 0, end_element = 0;  ///< in the order of the file
};

struct Options {
  /// As work::Options::memory. Some 16 MiB are used, and 64 KiB for each thread.
  std::uint64_t memory = 0;
  /// As work::Options::threads.
  unsigned threads = 0;
};

/// Throws InputError unless the output has the type and the shape of the result, and its elements follow each
/// other in this order.
void check_result(const io::ArrayFile& output, const io::DType& dtype,
                  const std::vector<std::uint64_t>& extents, Order order);

/// Returns where the output is not what `what` makes of the inputs; nowhere, if they agree. The output's
/// elements must follow each other, and `what` must be for the order in which they do (stored_in()); a result
/// in C order is only equal if it lies in C order. Reads each file once, past the page cache where the file
/// system allows it, one after the other. Compares sums of 128 bits: that a difference is not found has a
/// probability of at most 2^-62 (src/verify/comparison.hpp says why). Calls `progress` as work::Work::run()
/// does. Throws InputError if the numbers or sizes of elements do not agree, or if the memory is too small,
/// IoError, also if a file changes meanwhile, and Cancelled.
std::vector<Difference> compare(const std::vector<io::ArrayFile>& inputs, const Reordering& what,
                                const io::ArrayFile& output, const Options& options = {},
                                const work::ProgressCallback& progress = {}, std::stop_token stop = {});

/// One line: "NAME: bytes 4224 to 8319 (elements 512 to 1023) are not those of the result".
std::string text(const std::string& name, const std::vector<Difference>& differences);

}  // namespace xorder::verify
