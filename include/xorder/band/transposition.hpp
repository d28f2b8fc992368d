// From file to file: the transposition of a banded matrix in band storage.
//
//   const auto in = xorder::io::open_array("ab.npy");           // (KL + KU + 1, N), as SciPy has it
//   const xorder::Band band{.n = in.description.extents[1], .lower = 3, .upper = 2,
//                           .order = xorder::BandOrder::diagonals};
//   xorder::band::transposition({in}, {band}, "out.npy")->run();
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/work/work.hpp"

namespace xorder::band {

/// The transposition of matrices whose storages lie one after the other in the output. They lie in one input
/// in the same way, or each has an input of its own. An input is in C order and has the shape extents() of
/// its bands; that of a single band may also be (1, N, B), (1, B, N) or (N·B). The output has the shape of a
/// single input, or else extents(bands). Unused places of the output are zeros.
///
/// The work reads and writes every element once (reads some of a cyclic band twice, see
/// src/plan/bands/band_strips.hpp), in one pass, in runs of about √(memory / element) elements or longer.
/// Runs are whole rows if B × B elements fit in memory, and long ranges of diagonals in the orders
/// `diagonals` and `row_diagonals`. All matrices take one pass: one after another, or many at a time if they
/// are small, alike and in one input.
///
/// Writes nothing. Throws InputError if a band is wider than its matrix, an input has another shape or is in
/// Fortran order, there is any other number of inputs, their types differ, the memory is too small for strips
/// of one diagonal, or the output cannot be made.
std::unique_ptr<work::Work> transposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                          std::filesystem::path output, work::Options options = {});

}  // namespace xorder::band
