// Computations of the ±2^b-descend class, for compute() (descend.hpp) and DescendJob (job.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "xorder/descend/descend.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::descend {

/// Element i goes to i + distance, mod M, as in numpy.roll. The distance counts mod 2^64, so −1 is 2^64 − 1.
/// Elements may have any size. Descend: the distance is a sum of some ±2^b, and iteration b moves by its
/// ±2^b.
std::unique_ptr<Computation> cyclic_shift(std::size_t element_bytes, std::uint64_t distance);

/// Inclusive prefix: element i becomes the sum of elements 0 .. i, or the prod, min, max or xor, in the
/// type itself. Integers wrap around. For bools the sum and the max are `or`, the prod and the min are `and`.
/// NaN is passed on. For integers, bool (b1), f4 and f8 in both byte orders, and sum and prod of c8 and c16.
/// Throws InputError for other types and operations. Descend, as these are commutative; the order in which
/// floating-point numbers are added depends on nothing but M.
std::unique_ptr<Computation> prefix(const io::DType& dtype, const std::string& operation);

/// Merges two sorted halves (Batcher's odd-even merge). For integers, bool, f4 and f8 in both byte orders;
/// throws InputError for others. check() throws InputError, with the first position, unless both halves of
/// the file are in ascending order without NaN. `name` and `count` are those of the file. Descend: iteration
/// lg M − 1 compares i with i + M/2, and each lower iteration b compares i with i + 2^b for all i that have
/// bit b.
std::unique_ptr<Computation> odd_even_merge(const io::DType& dtype, std::string name, std::uint64_t count);

/// Solves a tridiagonal system by parallel cyclic reduction: row i is a x[i−1] + b x[i] + c x[i+1] = d, from
/// four arrays in this order, all f4 or all f8, in either byte order. The result is x in the type of d. a of
/// the first row and c of the last one count as 0. There is no pivoting: check() throws InputError, with the
/// row, if a pivot vanishes or overflows, which does not happen if the matrix is diagonally dominant. It also
/// throws if a number of the input is not finite or the solution overflows. Ascend, on records of four
/// numbers: iteration b combines each row with those 2^b before and after it. Besides its own unknown, only
/// those 2^(b+1) away remain.
std::unique_ptr<Computation> cyclic_reduction(const std::array<io::ArrayFile, 4>& inputs);

}  // namespace xorder::descend
