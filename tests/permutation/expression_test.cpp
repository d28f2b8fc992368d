#include "xorder/permutation/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gf2/random_gf2.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder {
namespace {

using gf2::AffineMap;
using test::Random;

void expect_refused(const std::string& text, int n, const std::string& message) {
  try {
    static_cast<void>(parse_expression(text, n));
    ADD_FAILURE() << text << ": no exception that says " << message;
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(message)) << text;
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(Expression, EachName) {
  EXPECT_EQ(parse_expression("identity", 6), bmmc::identity(6));
  EXPECT_EQ(parse_expression("reverse", 6), bmmc::reverse(6));
  EXPECT_EQ(parse_expression("bitreverse", 6), bmmc::bit_reverse(6));
  EXPECT_EQ(parse_expression("gray", 6), bmmc::gray(6));
  EXPECT_EQ(parse_expression("transpose(2,4)", 6), bmmc::transpose(2, 4));
  EXPECT_EQ(parse_expression("shuffle", 6), bmmc::transpose(1, 5));
  EXPECT_EQ(parse_expression("unshuffle", 6), bmmc::transpose(5, 1));
  EXPECT_EQ(parse_expression("rotate(2)", 6), bmmc::rotate(6, 2));
  EXPECT_EQ(parse_expression("rotate(-2)", 6), bmmc::rotate(6, -2));
  EXPECT_EQ(parse_expression("morton(3)", 6), bmmc::morton(6, 3));
  EXPECT_EQ(parse_expression("bits(2,0,1)", 3), bmmc::bits(std::vector{2, 0, 1}));
  EXPECT_EQ(parse_expression("xor(0x2a)", 6), bmmc::exclusive_or(6, 42));
  EXPECT_EQ(parse_expression("xor(0X2A)", 6), bmmc::exclusive_or(6, 42));
  EXPECT_EQ(parse_expression("xor(42)", 6), bmmc::exclusive_or(6, 42));
  EXPECT_EQ(parse_expression("xor(0b101010)", 6), bmmc::exclusive_or(6, 42));
}

// 12 bits are those of 64 x 64, and of other arrays, which Z order in two dimensions would take for it.
TEST(Expression, MortonNeedsItsAxes) {
  using Shape = std::vector<std::uint64_t>;
  const auto map = [](const char* text, const Shape& extents) {
    return parse_expression(text, 12, extents);
  };
  const char* const texts[] = {"morton(2)", "morton(2)^-1", "gray * (morton(2) * reverse)"};
  for (const char* text : texts) {
    for (const Shape& fine : {Shape{}, {4096}, {64, 64}, {1, 64, 1, 64}, {1, 4096}, {4096, 1}})
      EXPECT_EQ(map(text, fine), parse_expression(text, 12)) << text;
    for (const Shape& other : {Shape{128, 32}, {32, 128}, {16, 16, 16}, {2, 2048}, {4, 32, 32}}) {
      try {
        map(text, other);
        ADD_FAILURE() << text;
      } catch (const InputError& e) {
        EXPECT_THAT(e.what(),
                    testing::HasSubstr("expected an array of one axis or of shape (64, 64), found ("));
      }
    }
  }
  EXPECT_EQ(map("morton(3)", {16, 16, 16}), bmmc::morton(12, 3));
  EXPECT_EQ(map("gray * transpose(7,5)", {128, 32}), bmmc::gray(12) * bmmc::transpose(7, 5));
  EXPECT_EQ(parse_expression("morton(2147483647)", 0, Shape{1, 1}), bmmc::identity(0));
}

// x = 1, right one first: gray(1) = 1, then rotate(1) = 2. The other way round: rotate(1) = 2, gray(2) = 2 ^
// 1 = 3.
TEST(Expression, TheRightOneIsAppliedFirst) {
  EXPECT_EQ(parse_expression("rotate(1) * gray", 4)(1), 2u);
  EXPECT_EQ(parse_expression("gray * rotate(1)", 4)(1), 3u);
}

TEST(Expression, ProductsInversesAndParentheses) {
  for (const int n : {0, 1, 2, 4, 10, 62}) {
    const AffineMap gray = bmmc::gray(n);
    const AffineMap reverse = bmmc::bit_reverse(n);
    EXPECT_EQ(parse_expression("gray*bitreverse", n), gray * reverse);
    EXPECT_EQ(parse_expression("gray^-1", n), gray.inverse());
    EXPECT_EQ(parse_expression("gray^-1^-1", n), gray);
    EXPECT_EQ(parse_expression("(gray*bitreverse)^-1", n), reverse.inverse() * gray.inverse());
    EXPECT_EQ(parse_expression("gray*bitreverse^-1", n), gray * reverse.inverse());
    EXPECT_EQ(parse_expression("gray*(bitreverse*gray)*gray", n), gray * reverse * gray * gray);
    EXPECT_TRUE(parse_expression("gray*gray^-1", n).is_identity());
    EXPECT_EQ(parse_expression("reverse*gray", n), bmmc::reverse(n) * gray);
  }
}

// f^k is f performed k times, for k < 0 its inverse -k times.
TEST(Expression, PowersRepeat) {
  for (const int n : {0, 1, 6, 62}) {
    const AffineMap f = bmmc::gray(n) * bmmc::rotate(n, 1) * bmmc::reverse(n);
    const std::string text = "(gray*rotate(1)*reverse)^";
    AffineMap repeated = bmmc::identity(n);
    for (int k = 0; k <= 20; ++k) {
      EXPECT_EQ(parse_expression(text + std::to_string(k), n), repeated) << k;
      EXPECT_EQ(parse_expression(text + std::to_string(-k), n), repeated.inverse()) << k;
      repeated = repeated * f;
    }
  }
}

TEST(Expression, PowersOfTheSameMapAdd) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = random.in(1, 20), a = random.in(-1000, 1000), b = random.in(-1000, 1000);
    const std::string f = "(gray*rotate(1)*xor(1))";
    EXPECT_EQ(parse_expression(f + "^" + std::to_string(a) + "*" + f + "^" + std::to_string(b), n),
              parse_expression(f + "^" + std::to_string(a + b), n));
    EXPECT_EQ(parse_expression(f + "^" + std::to_string(a) + "^" + std::to_string(b), n),
              parse_expression(f + "^" + std::to_string(a * b), n));
  }
}

// A rotation of n bits has order n; the Gray code has order 2^ceil(lg n), as a matrix 1 + N with N^n = 0 has.
TEST(Expression, PowersWrapAroundAtTheOrder) {
  EXPECT_TRUE(parse_expression("rotate(1)^62", 62).is_identity());
  EXPECT_TRUE(parse_expression("gray^64", 62).is_identity());
  EXPECT_FALSE(parse_expression("gray^32", 62).is_identity());
  EXPECT_EQ(parse_expression("gray^63", 62), bmmc::gray(62).inverse());
  // 2^64 - 1 = 62 k + 15, and also -1 modulo 64.
  EXPECT_EQ(parse_expression("rotate(1)^18446744073709551615", 62), bmmc::rotate(62, 15));
  EXPECT_EQ(parse_expression("rotate(1)^-18446744073709551615", 62), bmmc::rotate(62, -15));
  EXPECT_EQ(parse_expression("gray^0xffffffffffffffff", 62), bmmc::gray(62).inverse());
}

TEST(Expression, BlanksAreFree) {
  EXPECT_EQ(parse_expression(" \t( gray * rotate ( - 1 ) ) ^ - 1 ^ -1\n", 5),
            bmmc::gray(5) * bmmc::rotate(5, -1));
  EXPECT_EQ(parse_expression("gray( )", 5), bmmc::gray(5));
  EXPECT_EQ(parse_expression("bits()", 0), bmmc::identity(0));
}

TEST(Expression, PositionsAndWhatWasExpected) {
  expect_refused("", 4, "character 1: expected a name or '(', found the end");
  expect_refused("  ", 4, "character 3: expected a name or '(', found the end");
  expect_refused("gray *", 4, "character 7: expected a name or '(', found the end");
  expect_refused("gray * * gray", 4, "character 8: expected a name or '(', found '*'");
  expect_refused("gray gray", 4, "character 6: expected '*', '^' or the end, found 'g'");
  expect_refused("gray)", 4, "character 5: expected '*', '^' or the end, found ')'");
  expect_refused("(gray", 4, "character 6: expected '*', '^' or ')', found the end");
  expect_refused("gray^", 4, "character 6: expected a number, found the end");
  expect_refused("gray^k", 4, "character 6: expected a number, found 'k'");
  expect_refused("gray^--1", 4, "character 7: expected a number, found '-'");
  expect_refused("gray^1.5", 4, "character 7: expected '*', '^' or the end, found '.'");
  expect_refused("gray^(2)", 4, "character 6: expected a number, found '('");
  expect_refused("gray^18446744073709551616", 4, "character 6: expected a number below 2^64");
  expect_refused("gray^-18446744073709551616", 4, "character 7: expected a number below 2^64");
  expect_refused("rotate(1", 4, "character 9: expected ',' or ')', found the end");
  expect_refused("rotate(,1)", 4, "character 8: expected a number, found ','");
  expect_refused("rotate(1,)", 4, "character 10: expected a number, found ')'");
  expect_refused("rotate(1x)", 4, "character 9: expected ',' or ')', found 'x'");
  expect_refused("rotate(k)", 4, "character 8: expected a number, found 'k'");
  expect_refused("xor(0x)", 4, "character 7: expected a hex digit, found ')'");
  expect_refused("xor(0b2)", 4, "character 7: expected 0 or 1, found '2'");
  expect_refused("xor(1.5)", 4, "character 6: expected ',' or ')', found '.'");
}

TEST(Expression, UnknownNamesGetTheList) {
  expect_refused("gray * bitrevers", 4,
                 "character 8: there is no permutation 'bitrevers'; expected one of identity, reverse, "
                 "bitreverse, gray, "
                 "transpose(lgR,lgC), shuffle, unshuffle, rotate(k), morton(d), bits(i,j,...), xor(c)");
  expect_refused("GRAY", 4, "there is no permutation 'GRAY'");
  expect_refused(std::string(9000, 'a'), 4, "'" + std::string(40, 'a') + "...'");
}

TEST(Expression, WrongArgumentsGetTheirRange) {
  expect_refused("transpose(12,8)", 24, "the index's 24 bits; 12 + 8 = 20");
  expect_refused("transpose(-1,5)", 4, "from 0 up");
  expect_refused("transpose(2147483647,2147483647)", 4, "4294967294");
  expect_refused("transpose(2)", 4, "character 1: expected transpose(lgR,lgC), with 2 arguments, found 1");
  expect_refused("gray*gray(1)", 4, "character 6: expected gray, with no arguments, found 1");
  expect_refused("rotate", 4, "expected rotate(k), with 1 argument, found 0");
  expect_refused("rotate(3000000000)", 4, "from -2147483647 to 2147483647, found 3000000000");
  expect_refused("rotate(18446744073709551616)", 4, "character 8: expected a number below 2^64");
  expect_refused("xor(0x10000000000000000)", 4, "character 5: expected a number below 2^64");
  expect_refused("xor(16)", 4, "0x10 has more than the 4 bits");
  expect_refused("xor(-1)", 4, "expected a number from 0 up, found -1");
  expect_refused("morton(3)", 20, "the index has 20 bits, which is not a multiple of 3");
  expect_refused("morton(0)", 20, "at least 1 dimension");
  expect_refused("bits(0,1)", 3, "expected 3 numbers, one for each index bit, found 2");
  expect_refused("bits(0,1,1)", 3, "bit 1 is named twice");
  expect_refused("bits(0,1,3)", 3, "no bit 3");
  expect_refused("bits", 3, "found 0");
}

TEST(Expression, HostileTextIsBounded) {
  expect_refused(std::string(10'001, ' '), 4, "at most 10000 characters");
  expect_refused(std::string(101, '('), 4, "character 101: more than 100 nested parentheses");
  const std::string deep = std::string(100, '(') + "gray" + std::string(100, ')');
  EXPECT_EQ(parse_expression(deep, 4), bmmc::gray(4));
  EXPECT_EQ(parse_expression(deep + "*" + deep, 4), bmmc::gray(4) * bmmc::gray(4)) << "depth, not number";
  std::string inverses = "gray";
  for (int i = 0; i < 3000; ++i) inverses += "^-1";
  EXPECT_EQ(parse_expression(inverses, 62), bmmc::gray(62));
  expect_refused("gray", 63, "0 to 62 bits");
  expect_refused("gray", -1, "0 to 62 bits");
}

TEST(Expression, ShowsForeignCharactersWhole) {
  expect_refused("gray × gray", 4, "character 6: expected '*', '^' or the end, found '×'");
  expect_refused("rotate(−1)", 4, "character 8: expected a number, found '−'");
  expect_refused("gray\x01", 4, "found a byte 0x01");
  expect_refused("gray\xff", 4, "found a byte 0xff");
  expect_refused("gray\xc2\x85", 4, "found a byte 0xc2");
  expect_refused("gray\xe2\x88", 4, "found a byte 0xe2");
  expect_refused(std::string("gray\0gray", 9), 4, "found a byte 0x00");
}

TEST(Expression, AnythingElseIsRefusedWithoutHarm) {
  Random random;
  SEED_TRACE(random);
  const std::vector<std::string> pieces = {
      "gray", "rotate", "bits", "xor", "(", ")", ",", "*",       "^-1",          "^",
      "-",    "0x",     "0b",   "1",   "7", "3", " ", "shuffle", "\xe2\x88\x92", "\xff"};
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (int i = random.in(0, 12); i > 0; --i) text += pieces[random.in(std::size_t{0}, pieces.size() - 1)];
    try {
      const AffineMap map = parse_expression(text, 3);
      EXPECT_EQ(map.matrix.rank(), 3) << text;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("character ")) << text;
    }
  }
}

}  // namespace
}  // namespace xorder
