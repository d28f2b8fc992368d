#include "io/format/npy_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A header of any length and content, right or wrong.
std::string header(std::string_view text, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> 8 * i & 0xff);
  return bytes.append(text);
}

std::string dictionary(std::string_view descr, std::string_view shape, std::string_view fortran = "False") {
  return "{'descr': " + std::string(descr) + ", 'fortran_order': " + std::string(fortran) +
         ", 'shape': " + std::string(shape) + ", }\n";
}

ArrayDescription parse(std::string_view bytes, std::uint64_t data_bytes) {
  return parse_npy_header(bytes, bytes.size() + data_bytes, "in.npy");
}

std::string header_refusal(std::string_view bytes, std::uint64_t data_bytes = 0) {
  try {
    return "not refused: " + parse(bytes, data_bytes).dtype.descr;
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Expects a header_refusal in one line that begins with the file's name, and gives the rest of it.
std::string reason(std::string_view bytes, std::uint64_t data_bytes = 0) {
  const std::string text = header_refusal(bytes, data_bytes);
  EXPECT_THAT(text, StartsWith("in.npy: "));
  EXPECT_EQ(text.find_first_of("\n\r\x1b"), text.npos) << text;
  return text.substr(std::min(text.size(), std::string_view("in.npy: ").size()));
}

TEST(ParseNpyHeader, ReadsAllVersions) {
  for (const int version : {1, 2, 3}) {
    SCOPED_TRACE(version);
    const std::string bytes = header(dictionary("'<f8'", "(3, 4)"), version);
    const ArrayDescription array = parse(bytes, 96);
    EXPECT_EQ(array.dtype, parse_dtype("<f8"));
    EXPECT_THAT(array.extents, ElementsAre(3, 4));
    EXPECT_EQ(array.order(), Order::c);
    EXPECT_EQ(array.offset, bytes.size());
    EXPECT_EQ(npy_data_offset(bytes.substr(0, npy_preamble_bytes), 1000, "in.npy"), bytes.size());
  }
  EXPECT_EQ(parse(header(dictionary("'<f8'", "(3, 4)", "True")), 96).order(), Order::fortran);
  EXPECT_THAT(parse(header(dictionary("'<f8'", "()")), 8).extents, IsEmpty());
  EXPECT_THAT(parse(header(dictionary("'<f8'", "(0,)")), 0).extents, ElementsAre(0));
  EXPECT_THAT(parse(header("{ \"shape\":(5L,),'fortran_order':False,'descr':'<i2'}"), 10).extents,
              ElementsAre(5));
}

TEST(ParseNpyHeader, KnowsTheEncodingOfEachVersion) {
  // "é" as latin1 is one byte in versions 1 and 2; 3 has UTF-8.
  EXPECT_EQ(parse(header(dictionary("[('\xe9', '|u1')]", "(0,)")), 0).dtype.descr, "[('é', '|u1')]");
  EXPECT_EQ(parse(header(dictionary("[('\xe9', '|u1')]", "(0,)"), 2), 0).dtype.descr, "[('é', '|u1')]");
  EXPECT_EQ(parse(header(dictionary("[('é', '|u1')]", "(0,)"), 3), 0).dtype.descr, "[('é', '|u1')]");
  EXPECT_THAT(reason(header(dictionary("[('\xe9', '|u1')]", "(0,)"), 3)), HasSubstr("not UTF-8"));
}

TEST(ParseNpyHeader, RefusesWhatIsNoNpy) {
  EXPECT_THAT(reason(""), HasSubstr("not an .npy file"));
  EXPECT_THAT(reason("\x93NUMP"), HasSubstr("not an .npy file"));
  EXPECT_THAT(reason("PK\x03\x04 a zip file"), HasSubstr("not an .npy file"));
  EXPECT_THAT(reason("\x93NUMPY\x01"), HasSubstr("truncated"));
  EXPECT_THAT(reason(header("{}", 0)), HasSubstr(".npy version 0.0 is unknown; known are 1.0, 2.0 and 3.0"));
  EXPECT_THAT(reason(header("{}", 4)), HasSubstr(".npy version 4.0 is unknown"));
  EXPECT_THAT(reason(std::string("\x93NUMPY\x01\x01\x02\0{}", 12)), HasSubstr(".npy version 1.1 is unknown"));
  EXPECT_THAT(reason(std::string("\x93NUMPY\xff\xff\x02\0{}", 12)),
              HasSubstr(".npy version 255.255 is unknown"));
}

TEST(ParseNpyHeader, BoundsTheHeader) {
  const std::string huge = std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12) + "{}";
  EXPECT_THAT(header_refusal(huge, std::uint64_t{1} << 40),
              HasSubstr("4294967307 bytes; at most 1048576 are read"));
  const std::string text = dictionary("'|u1'", "(0,)");
  const std::string full = text + std::string(max_npy_header_bytes - 12 - text.size(), ' ');
  EXPECT_EQ(parse(header(full, 2), 0).offset, max_npy_header_bytes);
  EXPECT_THAT(reason(header(full + " ", 2)), HasSubstr("1048577 bytes; at most 1048576 are read"));
}

TEST(ParseNpyHeader, RefusesADictionaryWithOtherKeys) {
  const std::string keys = "'descr': '<f8', 'fortran_order': False, 'shape': (0,)";
  EXPECT_THAT(header_refusal(header("{" + keys + "}")), HasSubstr("not refused"));
  EXPECT_THAT(reason(header("{" + keys + ", 'extra': 1}")), HasSubstr("unknown key \"'extra'\""));
  EXPECT_THAT(reason(header("{" + keys + ", 1: 1}")), HasSubstr("unknown key \"1\""));
  EXPECT_THAT(reason(header("{" + keys + ", ('shape',): 1}")), HasSubstr("unknown key"));
  EXPECT_THAT(parse(header("{" + keys + ", 'shape': (1,)}"), 8).extents, ElementsAre(1));  // as in Python
  EXPECT_THAT(reason(header("{'fortran_order': False, 'shape': (0,)}")), HasSubstr("no key \"descr\""));
  EXPECT_THAT(reason(header("{'descr': '<f8', 'shape': (0,)}")), HasSubstr("no key \"fortran_order\""));
  EXPECT_THAT(reason(header("{'descr': '<f8', 'fortran_order': False}")), HasSubstr("no key \"shape\""));
  EXPECT_THAT(reason(header("{}")), HasSubstr("no key"));
  for (const char* text : {"", "()", "'descr'", "1", "{", "[('descr', '<f8')]"})
    EXPECT_THAT(reason(header(text)), HasSubstr("corrupt .npy header")) << text;
}

TEST(ParseNpyHeader, RefusesHostileText) {
  for (const char* descr :
       {"__import__('os').system('touch x')", "10**10**10", "'<f8' * 1000000000", "1e999", "eval('1')",
        "[i for i in range(10)]", "{'a'}", "b'<f8'", "'<f8'; import os", "'\x1b[2J\n'"})
    EXPECT_THAT(reason(header(dictionary(descr, "(0,)"))), HasSubstr("corrupt .npy header")) << descr;
  EXPECT_THAT(reason(header(dictionary("'<f8'", "(0,)") + "import os")), HasSubstr("nothing more after"));
  EXPECT_THAT(reason(header(dictionary("'<f8'", "(0,)") + std::string(3, '\0'))),
              HasSubstr("nothing more after"));
  EXPECT_THAT(reason(header(std::string(60000, '['))), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(reason(header(dictionary("'|O'", "(0,)"))), HasSubstr("Python objects"));
  EXPECT_THAT(reason(header(dictionary("'" + std::string(50000, 'x') + "'", "(0,)"))).size(),
              ::testing::Lt(600u));
}

TEST(ParseNpyHeader, RefusesWrongShapesAndOrders) {
  for (const char* shape : {"3", "(3)", "[3]", "'3'", "None", "{}"})
    EXPECT_THAT(reason(header(dictionary("'|u1'", shape)), 3), HasSubstr("expected a tuple")) << shape;
  for (const char* shape : {"('3',)", "(True,)", "(None,)", "((3,),)"})
    EXPECT_THAT(reason(header(dictionary("'|u1'", shape)), 3), HasSubstr("expected an integer")) << shape;
  EXPECT_THAT(reason(header(dictionary("'|u1'", "(2, -3)")), 6), HasSubstr("negative extent \"-3\""));
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "1, ";
  EXPECT_THAT(reason(header(dictionary("'|u1'", ones + ")")), 1), HasSubstr("65 axes"));
  for (const char* order : {"0", "1", "None", "'True'", "()"})
    EXPECT_THAT(reason(header(dictionary("'|u1'", "(3,)", order)), 3), HasSubstr("fortran_order")) << order;
}

TEST(ParseNpyHeader, RefusesProductsFrom2To63) {
  const auto shape = [](std::string_view descr, std::string_view extents) {
    return reason(header(dictionary(descr, extents)));
  };
  EXPECT_THAT(shape("'|u1'", "(9223372036854775808,)"), HasSubstr("below 2^63"));
  EXPECT_THAT(shape("'|u1'", "(99999999999999999999999999999999,)"), HasSubstr("below 2^63"));
  EXPECT_THAT(shape("'<f8'", "(1152921504606846976,)"),
              HasSubstr("less than 2^63 bytes in total"));  // 2^60 · 8
  EXPECT_THAT(shape("'|u1'", "(4294967296, 4294967296)"),
              HasSubstr("less than 2^63 bytes in total"));  // 2^64
  EXPECT_THAT(shape("'|u1'", "(0, 4294967296, 4294967296)"), HasSubstr("less than 2^63 bytes in total"));
  EXPECT_THAT(shape("'|u1'", "(4294967296, 4294967296, 0)"), HasSubstr("less than 2^63 bytes in total"));
  // One byte less is a size like any other, only not this file's.
  EXPECT_THAT(shape("'|u1'", "(9223372036854775807,)"), HasSubstr("truncated"));
}

TEST(ParseNpyHeader, ComparesTheSizeOfTheFile) {
  std::string text = dictionary("'<f8'", "(3, 4)");
  text += std::string(128 - 10 - text.size(), ' ');
  EXPECT_EQ(parse(header(text), 96).offset, 128u);
  EXPECT_THAT(reason(header(text), 95),
              AllOf(StartsWith("truncated"), HasSubstr("224 bytes"), HasSubstr("has 223")));
  EXPECT_THAT(reason(header(text), 0),
              AllOf(StartsWith("truncated"), HasSubstr("224 bytes"), HasSubstr("has 128")));
  EXPECT_EQ(parse(header(text), 97).offset, 128u);  // bytes behind the array, as numpy.load has it
}

TEST(ParseNpyHeader, EscapesTheName) {
  try {
    parse_npy_header("", 0, "a\nb");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("a?b: "));
  }
}

// All headers that are cut off, in the file or in what was read of it.
TEST(ParseNpyHeader, RefusesEveryTruncation) {
  for (const int version : {1, 2, 3}) {
    const std::string whole =
        header(dictionary("[('a', '<f8'), (('t', 'b'), '|S3', (2,))]", "(0, 3)"), version);
    ASSERT_NO_THROW(parse(whole, 0));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string_view part = std::string_view(whole).substr(0, size);
      reason(part, 0);
      reason(part, whole.size() - size);
      // With a length that is right for what is left, so that the literal is cut off.
      if (size >= 12) reason(header(part.substr(version == 1 ? 10 : 12, size - 13), version));
    }
  }
}

// Whatever the bytes, there is a description that can be written and read again, or one line of
// header_refusal.
TEST(ParseNpyHeader, SurvivesFlippedBytes) {
  test::Random random;
  SEED_TRACE(random);
  const std::string wholes[] = {
      header(dictionary("'<f8'", "(0, 3)")),
      header(dictionary("[('a', '<f8'), (('t', 'b'), '|S3', (2,)), ('', '|V7'), ('c', [('d', '>M8[25s]')])]",
                        "(0,)"),
             2),
      header(dictionary("[('é\\u03bb', '|u1', (2, 3)), ('x', ('<U4', (2,)), (3,))]", "(1, 0, 2)", "True"), 3),
  };
  static constexpr std::string_view likely = "'\"\\()[]{},:0123456789-<>|=fuisSUVMmOL \n";
  int parsed = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string bytes = wholes[i % 3];
    for (int flips = random.in(1, 3); flips > 0; --flips) {
      char& byte = bytes[random.in(std::uint64_t{0}, bytes.size() - 1)];
      byte = random.in(0, 1) == 0 ? static_cast<char>(random.in(0, 255))
                                  : likely[random.in(std::uint64_t{0}, likely.size() - 1)];
    }
    ArrayDescription array;
    try {
      array = parse(bytes, 0);
    } catch (const InputError& error) {
      const std::string_view what = error.what();
      EXPECT_THAT(what, StartsWith("in.npy: "));
      EXPECT_EQ(what.find_first_of("\n\r\x1b"), what.npos) << what;
      EXPECT_LT(what.size(), 1000u) << what;
      continue;
    }
    ++parsed;
    EXPECT_GT(array.dtype.bytes, 0u);
    const ArrayDescription again = parse(npy_header(array.dtype, array.extents), 0);
    EXPECT_EQ(again.dtype, array.dtype);
    EXPECT_EQ(again.extents, array.extents);
  }
  EXPECT_GT(parsed, 100);  // or this tests little
}

/// A structured type whose header, without padding, has exactly `bytes` bytes.
DType wide_type(std::size_t bytes, const std::vector<std::uint64_t>& extents) {
  const auto length = [&](const std::string& name) {
    const std::string text = npy_header({1, "[('" + name + "', '|u1')]"}, extents);
    return text.find_last_not_of(" \n") + 2;
  };
  std::string name(bytes - length("a") + 1, 'a');
  name.resize(name.size() - (length(name) - bytes));  // version 2 takes two more
  EXPECT_EQ(length(name), bytes);
  return {1, "[('" + name + "', '|u1')]"};
}

TEST(NpyHeader, IsAsNumpyWritesItAndPadded) {
  const std::string bytes = npy_header(parse_dtype("<f8"), {3, 4});
  EXPECT_EQ(bytes.size(), 4096u);
  EXPECT_THAT(bytes, StartsWith(std::string("\x93NUMPY\x01\0\xf6\x0f", 10) +
                                "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   "));
  EXPECT_EQ(bytes.back(), '\n');
  EXPECT_THAT(npy_header(parse_dtype("<f8"), {}), HasSubstr("'shape': (), }"));
  EXPECT_THAT(npy_header(parse_dtype("<f8"), {7}), HasSubstr("'shape': (7,), }"));
}

TEST(NpyHeader, IsReadAgain) {
  const std::string descrs[] = {"'|u1'", "[('a', '<f8'), (('t', 'b'), '|S3', (2,))]", "[('é', '|u1')]"};
  for (const std::string& descr : descrs) {
    const DType dtype = parse(header(dictionary(descr, "(0,)"), 3), 0).dtype;
    for (const std::vector<std::uint64_t>& extents : {std::vector<std::uint64_t>{}, {0}, {5}, {2, 3, 4}}) {
      std::uint64_t data = dtype.bytes;
      for (const std::uint64_t extent : extents) data *= extent;
      const std::string bytes = npy_header(dtype, extents);
      const ArrayDescription array = parse(bytes, data);
      EXPECT_EQ(array.dtype, dtype);
      EXPECT_EQ(array.extents, extents);
      EXPECT_EQ(array.order(), Order::c);
      EXPECT_EQ(array.offset, bytes.size());
    }
  }
}

TEST(NpyHeader, ChoosesVersionAndPadding) {
  const struct {
    std::size_t least, padded;
    int version;
  } examples[] = {
      {4096, 4096, 1},  {4097, 8192, 1},   {8192, 8192, 1},
      {8193, 8256, 1},  {9984, 9984, 1},  // NumPy's limit for headers that it reads without being told
      {9985, 12288, 1}, {65536, 65536, 1}, {65539, 69632, 2},
  };
  for (const auto& example : examples) {
    SCOPED_TRACE(example.least);
    const std::string bytes = npy_header(wide_type(example.least, {4}), {4});
    EXPECT_EQ(bytes.size(), example.padded);
    EXPECT_EQ(bytes[6], example.version);
    EXPECT_EQ(parse(bytes, 4).offset, example.padded);
  }
  EXPECT_EQ(npy_header({1, "[('é', '|u1')]"}, {4})[6], 3);
  EXPECT_EQ(npy_header({1, "[('" + std::string(max_npy_header_bytes - 100, 'a') + "', '|u1')]"}, {4}).size(),
            max_npy_header_bytes);
  EXPECT_THROW(npy_header({1, "[('" + std::string(max_npy_header_bytes, 'a') + "', '|u1')]"}, {4}),
               InputError);
}

}  // namespace
}  // namespace xorder::io
