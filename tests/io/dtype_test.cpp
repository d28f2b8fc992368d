#include "xorder/io/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <string_view>

#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using ::testing::HasSubstr;

const char native = std::endian::native == std::endian::little ? '<' : '>';

std::string refusal(std::string_view text) {
  try {
    const DType dtype = parse_dtype(text);
    return "not refused: " + dtype.descr;
  } catch (const InputError& error) {
    return error.what();
  }
}

struct Example {
  std::string_view text;
  std::uint64_t bytes;
  std::string canonical;  // as numpy.dtype(text).str
};

TEST(ParseDtype, GivesSizeAndDescrAsNumpy) {
  const std::string n(1, native);
  const Example examples[] = {
      {"u1", 1, "|u1"},
      {"i1", 1, "|i1"},
      {"b1", 1, "|b1"},
      {"?", 1, "|b1"},
      {"u2", 2, n + "u2"},
      {"i2", 2, n + "i2"},
      {"f2", 2, n + "f2"},
      {"u4", 4, n + "u4"},
      {"i4", 4, n + "i4"},
      {"f4", 4, n + "f4"},
      {"u8", 8, n + "u8"},
      {"i8", 8, n + "i8"},
      {"f8", 8, n + "f8"},
      {"c8", 8, n + "c8"},
      {"f16", 16, n + "f16"},
      {"c16", 16, n + "c16"},
      {"c32", 32, n + "c32"},
      {"<f8", 8, "<f8"},
      {">i4", 4, ">i4"},
      {"|u1", 1, "|u1"},
      {"<u1", 1, "|u1"},
      {">?", 1, "|b1"},
      {"=c16", 16, n + "c16"},
      {"|f8", 8, n + "f8"},
      {"S12", 12, "|S12"},
      {">S3", 3, "|S3"},
      {"S007", 7, "|S7"},
      {"U5", 20, n + "U5"},
      {">U5", 20, ">U5"},
      {"V24", 24, "|V24"},
      {"<V1", 1, "|V1"},
      {"M8", 8, n + "M8"},
      {"M8[ns]", 8, n + "M8[ns]"},
      {">m8[25s]", 8, ">m8[25s]"},
      {"M8[1D]", 8, n + "M8[D]"},
      {"m8[generic]", 8, n + "m8"},
      {"M8[μs]", 8, n + "M8[us]"},
      {"V2147483647", 2147483647, "|V2147483647"},
      {"U536870911", 2147483644, n + "U536870911"},
      {"bool", 1, "|b1"},
      {"int8", 1, "|i1"},
      {"int16", 2, n + "i2"},
      {"int32", 4, n + "i4"},
      {"int64", 8, n + "i8"},
      {"uint8", 1, "|u1"},
      {"uint16", 2, n + "u2"},
      {"uint32", 4, n + "u4"},
      {"uint64", 8, n + "u8"},
      {"float16", 2, n + "f2"},
      {"float32", 4, n + "f4"},
      {"float64", 8, n + "f8"},
      {"d", 8, n + "f8"},
      {">g", 16, ">f16"},
      {"c", 1, "|S1"},
      {"f08", 8, n + "f8"},
      {"a5", 5, "|S5"},
      {"int", 8, n + "i8"},
      {"double", 8, n + "f8"},
      {"longdouble", 16, n + "f16"},
      {"datetime64[ns]", 8, n + "M8[ns]"},
      {">timedelta64", 8, ">m8"},
      {"complex64", 8, n + "c8"},
      {"complex128", 16, n + "c16"},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.text);
    DType dtype;
    ASSERT_NO_THROW(dtype = parse_dtype(example.text));
    EXPECT_EQ(dtype.bytes, example.bytes);
    EXPECT_EQ(dtype.descr, "'" + example.canonical + "'");
  }
  for (const char* unit : {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"})
    EXPECT_EQ(parse_dtype("<M8[" + std::string(unit) + "]").descr, "'<M8[" + std::string(unit) + "]'");
}

// What it gives is what it takes: parse(parse(x).descr) = parse(x).
TEST(ParseDtype, IsIdempotent) {
  for (const char* text : {"f8", ">f8", "?", "S12", "U5", "V24", "M8[3s]", "m8", "c32", "i1"}) {
    const DType dtype = parse_dtype(text);
    EXPECT_EQ(parse_dtype(dtype.descr.substr(1, dtype.descr.size() - 2)), dtype) << text;
  }
}

TEST(ParseDtype, ListsTheTypesForAnUnknownOne) {
  for (const char* text : {"",
                           "<",
                           "f7",
                           "x8",
                           ">float64",
                           "float65",
                           "<f1",
                           "ints",
                           "float64 double",
                           ">double",
                           "float64x",
                           "j",
                           "8",
                           "f8 ",
                           " f8",
                           "<<f8",
                           "u16",
                           "i16",
                           "b2",
                           "M8[",
                           "M8[]",
                           "M8[0s]",
                           "M8[x]",
                           "M8[-3s]",
                           "M8[s",
                           "M8[m s]",
                           "M8[ns]x",
                           "M8[99999999999s]",
                           "M4[s]",
                           "M[s]",
                           "S-1",
                           "S1x",
                           "V0x10",
                           "S1.0",
                           "U+3",
                           "i4,f4",
                           "[('a', 'f8')]",
                           "'<f8'",
                           "Obj"}) {
    EXPECT_THAT(refusal(text), HasSubstr("unknown type")) << text;
    EXPECT_THAT(refusal(text), HasSubstr("u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 f16 c8 c16 c32 b1 S<n> U<n> V<n>"))
        << text;
    EXPECT_THAT(refusal(text), HasSubstr("float64, int32")) << text;
  }
}

TEST(ParseDtype, SaysWhyForObjects) {
  for (const char* text : {"O", "|O", "O8", "<O8", "object"})
    EXPECT_THAT(refusal(text), HasSubstr("Python objects")) << text;
}

TEST(ParseDtype, RefusesElementsOfNoBytes) {
  for (const char* text : {"S0", "U0", "V0", "|V00", "S", "str", "void"})
    EXPECT_THAT(refusal(text), HasSubstr("no bytes")) << text;
}

// 2^29 characters of 4 bytes are 2^31; 4 × 2^62 would be 0 in 64 bits.
TEST(ParseDtype, RefusesWhatWouldOverflow) {
  for (const char* text : {"V2147483648", "S4294967297", "U536870912", "U4611686018427387904",
                           "V18446744073709551617", "S99999999999999999999999999999999999999"})
    EXPECT_THAT(refusal(text), HasSubstr("2147483647")) << text;
}

TEST(ParseDtype, RefusesInOneLine) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    static constexpr std::string_view likely = "<>=|uifcbSUVMmO?0123456789[]sn\n\r\0";
    for (int length = random.in(0, 60); length > 0; --length)
      text += random.in(0, 3) != 0 ? likely[random.in(std::uint64_t{0}, likely.size() - 1)]
                                   : static_cast<char>(random.in(0, 255));
    try {
      EXPECT_GT(parse_dtype(text).bytes, 0u);
    } catch (const InputError& error) {
      const std::string_view what = error.what();
      EXPECT_EQ(what.find_first_of("\n\r\x1b"), what.npos) << what;
      EXPECT_LT(what.size(), 600u) << what;
    }
  }
}

TEST(NumberTypes, AreKindSizeAndByteOrder) {
  for (const char order : {'<', '>'}) {
    for (const std::string type : {"u2", "u8", "i4", "f2", "f8", "c8", "c16"}) {
      const NumberType number = number_type(parse_dtype(order + type));
      EXPECT_EQ(number.kind, type[0]);
      EXPECT_EQ(std::to_string(number.bytes), type.substr(1));
      EXPECT_EQ(number.swapped, order != native);
    }
  }
  EXPECT_EQ(number_type(parse_dtype("?")).kind, 'b');
  EXPECT_FALSE(number_type(parse_dtype("u1")).swapped);
  for (const char* text : {"S3", "U2", "V8", "M8[s]", "m8"})
    EXPECT_EQ(number_type(parse_dtype(text)).kind, 0) << text;
  EXPECT_EQ(number_type({8, "[('x', '<f8')]"}).kind, 0);
  EXPECT_EQ(number_type({1, ""}).kind, 0);
}

}  // namespace
}  // namespace xorder::io
