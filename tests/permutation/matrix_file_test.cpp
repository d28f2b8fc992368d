#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gf2/random_gf2.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder {
namespace {

using gf2::AffineMap;
using test::Random;

void expect_refused(const std::string& text, const std::string& message) {
  try {
    static_cast<void>(parse_matrix(text, "m.txt"));
    ADD_FAILURE() << text << ": no exception that says " << message;
  } catch (const InputError& e) {
    EXPECT_EQ(e.what(), "m.txt: " + message) << text;
  }
}

std::string written(const AffineMap& map) {
  std::string text;
  for (int i = 0; i < map.bits(); ++i) {
    for (int j = 0; j < map.bits(); ++j) text += map.matrix.at(i, j) ? '1' : '0';
    text += '\n';
  }
  text += "c ";
  for (int i = 0; i < map.bits(); ++i) text += map.complement >> i & 1 ? '1' : '0';
  return text + '\n';
}

// Row 0 has its 1 in column 2: target bit 0 is source bit 2, and so on: bits(2,0,1), which is rotate(1); then
// all target bits flipped.
TEST(MatrixFile, TheHeadersExample) {
  const AffineMap map = parse_matrix(
      "# target bit 0 is source bit 2\n"
      "0 0 1\n"
      "1 0 0\n"
      "0 1 0\n"
      "c 111\n",
      "m.txt");
  EXPECT_EQ(map, parse_expression("reverse * bits(2,0,1)", 3));
  EXPECT_EQ(map, parse_expression("reverse * transpose(1,2)", 3));
}

// Gray code: target bit i = source bit i ^ source bit i+1, so that row i has its ones in columns i and i+1.
TEST(MatrixFile, RowsAreTargetBits) { EXPECT_EQ(parse_matrix("110\n011\n001", "m.txt"), bmmc::gray(3)); }

TEST(MatrixFile, ReadsWhatWasWritten) {
  Random random;
  SEED_TRACE(random);
  for (const int n : {1, 2, 3, 8, 33, 61, 62}) {
    const AffineMap map = test::random_bmmc(random, n);
    EXPECT_EQ(parse_matrix(written(map), "m.txt"), map);
  }
}

TEST(MatrixFile, BlanksCommentsAndLineEndsAreFree) {
  EXPECT_EQ(parse_matrix("\r\n # x\r\n\t1 1\r\n\r\n0 1 \r\n#\nc 0 1\n\n# end", "m.txt"),
            (AffineMap{bmmc::gray(2).matrix, 2}));
  EXPECT_EQ(parse_matrix("1\nc1", "m.txt"), (AffineMap{gf2::BitMatrix::identity(1), 1}));
}

TEST(MatrixFile, NamesLineAndColumn) {
  expect_refused("", "expected rows of 0 and 1, found none");
  expect_refused("# only a comment\n", "expected rows of 0 and 1, found none");
  expect_refused("10\n0x\n", "line 2, column 2: expected 0 or 1, found 'x'");
  expect_refused("10\n\n0 2\n", "line 3, column 3: expected 0 or 1, found '2'");
  expect_refused("10\n01 # why\n", "line 2, column 4: expected 0 or 1, found '#'");
  expect_refused("é0\n", "line 1, column 1: expected 0 or 1, found 'é'");
  expect_refused(std::string("1\0", 2), "line 1, column 2: expected 0 or 1, found a byte 0x00");
  expect_refused("10\n011\n", "line 2, column 4: expected 2 digits, as in the first row, found 3");
  expect_refused("10\n0\n", "line 2, column 2: expected 2 digits, as in the first row, found 1");
  expect_refused("10\n01\nc 1\n", "line 3, column 4: expected 2 digits, as in the first row, found 1");
  expect_refused("10\n01\nc\n", "line 3, column 2: expected 2 digits, as in the first row, found 0");
  expect_refused("10\n01\n11\n",
                 "line 3, column 1: expected 2 rows, as the rows have 2 columns, and found one more");
  expect_refused("c 10\n10\n01\n",
                 "line 1, column 1: expected the first row of the matrix before the complement");
  expect_refused("10\n01\nc 10\n10\n", "line 4, column 1: expected nothing after the complement");
  expect_refused("10\n01\nc 10\nc 10\n", "line 4, column 1: expected nothing after the complement");
  expect_refused("100\n010\n", "the matrix has 2 rows and 3 columns; it must be square");
  expect_refused(std::string(63, '1'), "line 1, column 63: expected at most 62 digits");
  expect_refused(std::string(100'000, '1'), "line 1, column 63: expected at most 62 digits");
}

TEST(MatrixFile, SingularMatricesGetTheirRank) {
  expect_refused("110\n011\n101\n", "the matrix is singular: its rank is 2, not 3");
  expect_refused("0\n", "the matrix is singular: its rank is 0, not 1");
}

TEST(MatrixFile, AnythingElseIsRefusedWithoutHarm) {
  Random random;
  SEED_TRACE(random);
  const std::string characters = "0101010101\n\n\n c#x\r\xc3";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (int i = random.in(0, 20); i > 0; --i)
      text += characters[random.in(std::size_t{0}, characters.size() - 1)];
    try {
      const AffineMap map = parse_matrix(text, "m.txt");
      EXPECT_EQ(map.matrix.rank(), map.bits()) << text;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("m.txt: ")) << text;
    }
  }
}

}  // namespace
}  // namespace xorder
