#include "io/format/structured_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using ::testing::HasSubstr;

DType parse(std::string_view text) { return parse_descr(parse_literal(from_utf8(text))); }

std::string descr_refusal(std::string_view text) {
  try {
    return "not refused: " + parse(text).descr;
  } catch (const InputError& error) {
    return error.what();
  }
}

// Sizes as numpy.lib.format.descr_to_dtype gives them.
TEST(ParseDescr, AddsUpTheFields) {
  const struct {
    std::string_view descr;
    std::uint64_t bytes;
  } examples[] = {
      {"'<f8'", 8},
      {"'|V24'", 24},
      {"[('a', '<f8')]", 8},
      {"[('a', '|u1'), ('b', '<f8')]", 9},                // packed
      {"[('a', '|u1'), ('', '|V7'), ('b', '<f8')]", 16},  // aligned: padding is written out
      {"[('', '|V4'), (('A', 'a'), '<f8'), ('', '|V4'), ('b', '<i4')]", 20},  // a title; padding twice
      {"[('a', '<f4', (2, 3)), ('b', '|S3')]", 27},                           // 4 · 6 + 3
      {"[('a', '<f4', 2), ('b', '<f4', ())]", 12},
      {"[('a', [('b', '<i2'), ('c', [('d', '|i1', (5,))])]), ('e', '<U2')]", 15},  // 2 + 5 + 8
      {"[('a', ('<f4', (2,)), (3,))]", 24},                                        // a subarray of subarrays
      {"[('a', ([('x', '|u1'), ('y', '<u2')], (4,)))]", 12},
      {"[('a', '|S0'), ('b', '<f8'), ('c', '<f8', (0,))]", 8},  // fields of no bytes
      {"[((5, 'a'), '|i1')]", 1},                               // a title is any key
      {"[('é', '<M8[ns]'), ('λ', '<m8[25s]')]", 16},
  };
  for (const auto& example : examples) {
    SCOPED_TRACE(example.descr);
    DType dtype;
    ASSERT_NO_THROW(dtype = parse(example.descr));
    EXPECT_EQ(dtype.bytes, example.bytes);
    EXPECT_EQ(dtype.descr, example.descr);  // they are in NumPy's spelling, which is kept
    EXPECT_EQ(parse(dtype.descr), dtype);
  }
}

TEST(ParseDescr, WritesTypesAsNumpy) {
  EXPECT_EQ(parse("\">f8\"").descr, "'>f8'");
  EXPECT_EQ(parse("[('a', 'float64'), ('b', 'd', 0x2)]").descr, "[('a', '<f8'), ('b', '<f8', 2)]");
  EXPECT_EQ(parse("[ (u'a',\"<u1\" , (2L,)),('b','>S3')]").descr, "[('a', '|u1', (2,)), ('b', '|S3')]");
}

// As ml_dtypes writes them: the size stands behind the letter, and the rest is nobody's business here.
TEST(ParseDescr, KeepsTypesOfKnownSizeAsTheyAre) {
  const std::pair<const char*, std::uint64_t> examples[] = {
      {"'<f1'", 1}, {"'<g2'", 2}, {"'>E3'", 3}, {"'|i16'", 16}, {"[('a', '<f1', (2, 3)), ('b', '=q2')]", 8}};
  for (const auto& [descr, bytes] : examples) {
    EXPECT_EQ(parse(descr), (DType{bytes, descr}));
    EXPECT_EQ(number_type(parse(descr)).kind, 0);
  }
  for (const char* descr : {"'f1'", "'<x'", "'<f0'", "'<1'", "'<f2147483648'", "'<M4'", "'<t4'", "'<ff1'"})
    EXPECT_THAT(descr_refusal(descr), ::testing::Not(HasSubstr("not refused"))) << descr;
}

TEST(ParseDescr, RefusesObjectsAnywhere) {
  for (const std::string_view text : {"'|O'", "'O'", "[('a', '|O')]", "[('a', '<f8'), ('b', [('c', '|O')])]",
                                      "[('a', '|O', (2,))]", "[('a', ('|O', (2,)))]", "[('a', '|O', (0,))]"})
    EXPECT_THAT(descr_refusal(text), HasSubstr("Python objects")) << text;
}

TEST(ParseDescr, RefusesWhatIsNoType) {
  for (const std::string_view text : {"1",
                                      "None",
                                      "True",
                                      "{}",
                                      "('<f8', (2,))",
                                      "()",
                                      "('<f8',)",
                                      "[1]",
                                      "['<f8']",
                                      "[('a',)]",
                                      "[('a', '<f8', (1,), 2)]",
                                      "[(1, '<f8')]",
                                      "[(('t', 1), '<f8')]",
                                      "[(('t', 'a', 'b'), '<f8')]",
                                      "[(([], 'a'), '<f8')]",
                                      "[('a', 1)]",
                                      "[('a', 'f7')]",
                                      "[('a', 'S', 3)]",
                                      "[('a', 'S0', (2,))]",
                                      "[('a', '<f8', '2')]",
                                      "[('a', '<f8', (-1,))]",
                                      "[('a', '<f8', -1)]",
                                      "[('a', '<f8', (1.5,))]",
                                      "[('a', '<f8', [2])]",
                                      "[('a', '<f8', (True,))]",
                                      "[('a', ('<f8', (2,), 3))]",
                                      "[['a', '<f8']]"})
    EXPECT_THAT(descr_refusal(text), ::testing::Not(HasSubstr("not refused"))) << text;
  EXPECT_THAT(descr_refusal("('<f8', (2,))"), HasSubstr("bare subarray"));
}

TEST(ParseDescr, RefusesNamesThatOccurTwice) {
  EXPECT_THAT(descr_refusal("[('a', '<f8'), ('a', '<f8')]"), HasSubstr("two fields are named"));
  EXPECT_THAT(descr_refusal("[('a', '<f8'), (('a', 'b'), '<f8')]"), HasSubstr("two fields are named"));
  EXPECT_EQ(parse("[('a', [('a', '|u1')]), ('', '|V1'), ('', '|V1')]").bytes,
            3u);  // one inside the other; padding
}

TEST(ParseDescr, RefusesElementsOfNoBytes) {
  for (const std::string_view text :
       {"'|V0'", "'|S0'", "'<U0'", "[]", "[('a', '|S0')]", "[('a', '<f8', (0,))]", "[('a', [])]"})
    EXPECT_THAT(descr_refusal(text), HasSubstr("no bytes")) << text;
}

// The products and sums of these are 2^31 or more, some of them 0 in 64 bits.
TEST(ParseDescr, RefusesWhatWouldOverflow) {
  for (const std::string_view text :
       {"'|V2147483648'", "[('a', '|V2147483647'), ('b', '|u1')]", "[('a', '<f8', (268435456,))]",
        "[('a', '<f8', (65536, 65536))]", "[('a', '<f8', (4294967296, 4294967296))]",
        "[('a', '<f8', (9223372036854775807,))]", "[('a', '<f8', (9223372036854775808,))]",
        "[('a', '<f8', (99999999999999999999999999,))]", "[('a', ('<f8', (65536,)), (65536,))]",
        "[('a', [('b', '|V2147483647')], (2147483647, 2147483647, 2147483647))]"})
    EXPECT_THAT(descr_refusal(text), ::testing::AnyOf(HasSubstr("too large"), HasSubstr("below 2^63")))
        << text;
  EXPECT_EQ(parse("[('a', '|V2147483646'), ('b', '|u1')]").bytes, max_element_bytes);
}

TEST(ParseExtent, TakesIntegersBelow2To63) {
  const auto extent = [](std::string_view text) { return parse_extent(parse_literal(from_utf8(text))); };
  EXPECT_EQ(extent("0"), 0u);
  EXPECT_EQ(extent("9223372036854775807"), 9223372036854775807u);
  for (const std::string_view text :
       {"9223372036854775808", "18446744073709551616", "-1", "'1'", "True", "None", "(1,)"})
    EXPECT_THROW(extent(text), InputError) << text;
}

}  // namespace
}  // namespace xorder::io
