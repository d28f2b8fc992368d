// The interface for programs that reorder files and arrays.
//
//   permutation   what is to be done: transposition(), mapping_along(); maps by name (bmmc::gray) or as text
//                 (parse_expression())
//   io            open_array(): what a file holds; selected(), reshaped(): another array in its bytes
//   Job           from file to file: summary() and describe() say what it will do, run() does it
//   InPlaceJob    within a file
//   resume()      goes on with a run that was killed
//   verify        compare(): whether a file holds what a reordering makes of others; checksum()
//   memory        permute(), InMemoryPlan: the same for an array in memory
//   error         what is thrown. The library prints nothing and never aborts
//
// Objects may be used by one thread at a time unless their headers say otherwise. laboratory.hpp has the
// rest: schedules, virtual processors, banded matrices and descend computations.
#pragma once

#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/io/array_view.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"
#include "xorder/permutation/permutation.hpp"
#include "xorder/tiles/in_place.hpp"
#include "xorder/tiles/job.hpp"
#include "xorder/tiles/resume.hpp"
#include "xorder/verify/checksum.hpp"
#include "xorder/verify/verify.hpp"
