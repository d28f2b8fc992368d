#include "io/format/python_literal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using ::testing::HasSubstr;
using Kind = Literal::Kind;

// What is read, written as repr() does; or why it is not read.
std::string through(std::string_view text) {
  try {
    return to_python(parse_literal(from_utf8(text)));
  } catch (const InputError& error) {
    return std::string("refused: ") + error.what();
  }
}

TEST(PythonLiteral, ReadsWhatPythonWrites) {
  for (const std::string_view text : {"None",
                                      "True",
                                      "False",
                                      "0",
                                      "-17",
                                      "123456789012345678901234567890",
                                      "''",
                                      "'a'",
                                      "\"it's\"",
                                      "()",
                                      "(1,)",
                                      "(1, 2)",
                                      "[]",
                                      "[1]",
                                      "[[], [[]]]",
                                      "{}",
                                      "{'a': 1, 'b': (2, None)}",
                                      "'\\\\'",
                                      "'\\n\\r\\t\\x00\\x7f'",
                                      "'é λ 😀'",
                                      "'\\ud800'",
                                      "'\\'\"'",
                                      "'\\u2028'",
                                      "[('x', '<f8'), (('title', 'y'), '|i1', (2, 3))]"})
    EXPECT_EQ(through(text), text);
}

TEST(PythonLiteral, ReadsOtherSpellings) {
  EXPECT_EQ(through(" \n\t( 1 ,2,)\f\r\n "), "(1, 2)");
  EXPECT_EQ(through("('a')"), "'a'");  // parentheses, not a tuple
  EXPECT_EQ(through("((('a',)))"), "('a',)");
  EXPECT_EQ(through("(3L, 4L)"), "(3, 4)");  // longs of Python 2
  EXPECT_EQ(through("u'a'"), "'a'");
  EXPECT_EQ(through("\"a\""), "'a'");
  EXPECT_EQ(through(R"('\x41\102\u0043\U00000044\a')"), "'ABCD\\x07'");
  EXPECT_EQ(through("{'a':1,}"), "{'a': 1}");
  EXPECT_EQ(through("(0x1F, 0XfL, 0o17, 0b101, 0x_f, 1_000, 00, 0_0, 18446744073709551615)"),
            "(31, 15, 15, 5, 15, 1000, 0, 0, 18446744073709551615)");
  EXPECT_EQ(through("0xffffffffffffffff"), "18446744073709551615");
  EXPECT_EQ(through("(+1, - 1, +0x3, -0, -00)"), "(1, -1, 3, 0, 0)");
  EXPECT_EQ(through("# one\n(1, # two\r 2)# three"), "(1, 2)");
}

TEST(PythonLiteral, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      " ",
                                      "(",
                                      ")",
                                      "(1",
                                      "(1,",
                                      "(,)",
                                      "(1,,2)",
                                      "(1 2)",
                                      "[1)",
                                      "[1",
                                      "{1}",
                                      "{1:}",
                                      "{1:2",
                                      "{:1}",
                                      "'",
                                      "'a",
                                      "'a\n'",
                                      "\"a'",
                                      "'a' 'b' x",
                                      "'a''b'",
                                      "'''a'''",
                                      "b'a'",
                                      "r'a'",
                                      "f'{1}'",
                                      "ur'a'",
                                      "'\\x4'",
                                      "'\\q'",
                                      "'\\",
                                      "'\\N{DIGIT ONE}'",
                                      "'\\U00110000'",
                                      "'\\\n'",
                                      "1 2",
                                      "1,",
                                      "01",
                                      "0x",
                                      "0x_",
                                      "0xg",
                                      "0o8",
                                      "0b2",
                                      "0x10000000000000000",
                                      "1_",
                                      "1__0",
                                      "0_1",
                                      "1.0",
                                      "1e999",
                                      "1j",
                                      "--1",
                                      "+-1",
                                      "-",
                                      "-True",
                                      "10**10**10",
                                      "2*3",
                                      "1L1",
                                      "3l",
                                      "True1",
                                      "true",
                                      "nan",
                                      "inf",
                                      "...",
                                      "# comment",
                                      "1 # comment\n2",
                                      "__import__('os')",
                                      "__import__('os').system('true')",
                                      "(lambda: 0)()",
                                      "[x for x in ()]",
                                      "a.b",
                                      "set()",
                                      "1 if 1 else 2",
                                      "not 1",
                                      "`1`",
                                      "λ"})
    EXPECT_THAT(through(text), HasSubstr("refused: ")) << text;
  for (const std::string_view text : {std::string_view("(1\0,)", 5), {"'\0'", 3}, {"1#\0", 4}})
    EXPECT_THAT(through(text), HasSubstr("refused: ")) << text;
}

TEST(PythonLiteral, SaysWhereItStumbled) {
  EXPECT_EQ(through("(1, __import__('os'))"),
            "refused: \"__import__('os'))\" at character 4 where there should be a literal (a string, "
            "integer, tuple, "
            "list, dictionary, True, False or None)");
  EXPECT_EQ(through("(1"), "refused: the end at character 2 where there should be ',' or ')'");
  EXPECT_EQ(through("[1] \x1b[2J\n"),
            "refused: \"\\x1b[2J\\n\" at character 4 where there should be nothing more after the literal");
}

TEST(PythonLiteral, BoundsTheDepth) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(through(nested(100)), nested(100));
  EXPECT_THAT(through(nested(1000)), HasSubstr("refused: nested more than 100 deep"));
  for (const char* open : {"[", "(", "{0:"}) {
    std::string bomb;
    while (bomb.size() < (1u << 20)) bomb += open;
    EXPECT_THAT(through(bomb), HasSubstr("refused: nested more than 100 deep"));
  }
}

TEST(PythonLiteral, ReadsAMebibyteOfAnything) {
  for (const char* part : {"0,", "(),", "[0],", "'',", "True,"}) {
    std::string text = "[";
    while (text.size() < (1u << 20)) text += part;
    EXPECT_THAT(through(text + "]"), ::testing::StartsWith("[")) << part;
  }
  const std::string digits(1 << 20, '9');
  EXPECT_EQ(through(digits), digits);
}

Literal random_literal(test::Random& random, int depth) {
  Literal literal;
  literal.kind = static_cast<Kind>(random.in(0, depth > 0 ? 6 : 3));
  switch (literal.kind) {
    case Kind::none:
      break;
    case Kind::boolean:
      literal.truth = random.in(0, 1) == 1;
      break;
    case Kind::integer: {
      const std::string digits = std::to_string(static_cast<std::int64_t>(random()));
      literal.text.assign(digits.begin(), digits.end());
      break;
    }
    case Kind::string:
      for (int length = random.in(0, 8); length > 0; --length)
        literal.text += static_cast<char32_t>(random.in(0, random.in(0, 1) == 0 ? 0x7f : 0x10ffff));
      break;
    default:
      for (int size = random.in(0, 4); size > 0; --size) {
        literal.items.push_back(random_literal(random, depth - 1));
        if (literal.is(Kind::dictionary)) literal.items.push_back(random_literal(random, depth - 1));
      }
  }
  return literal;
}

bool same(const Literal& a, const Literal& b) {
  return a.kind == b.kind && a.truth == b.truth && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
}

TEST(PythonLiteral, ReadingUndoesWriting) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 3000; ++i) {
    const Literal literal = random_literal(random, 4);
    const std::string text = to_python(literal);
    EXPECT_EQ(text.find('\n'), text.npos);
    EXPECT_TRUE(same(parse_literal(from_utf8(text)), literal)) << text;
  }
}

TEST(PythonLiteral, SurvivesAnyTokens) {
  test::Random random;
  SEED_TRACE(random);
  static const char* const tokens[] = {"(", ")", "[", "]", "{",    "}", ",",    ":", "'",  "\"", "\\", "x4",
                                       "1", "-", "L", " ", "True", "u", "None", "é", "\n", "a",  ".",  "'k'"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int length = random.in(0, 12); length > 0; --length)
      text += tokens[random.in(std::uint64_t{0}, std::size(tokens) - 1)];
    const std::string result = through(text);
    EXPECT_EQ(result.find_first_of("\n\r"), result.npos) << result;
  }
}

TEST(Utf8, RefusesWhatIsNone) {
  EXPECT_EQ(from_utf8("aé€😀"), U"aé€😀");
  EXPECT_EQ(to_utf8(U"aé€😀"), "aé€😀");
  // A lone continuation, overlong forms, a surrogate, beyond the last character, truncated ones, a bad
  // continuation.
  for (const std::string_view bytes : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xf0\x80\x80\x80",
                                       "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff",
                                       "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2(\xa1"})
    EXPECT_THROW(from_utf8(bytes), InputError) << excerpt(bytes);
  EXPECT_EQ(from_latin1("a\xe9"), U"aé");
}

TEST(Excerpt, IsShortAndInOneLine) {
  EXPECT_EQ(excerpt("f7"), "\"f7\"");
  EXPECT_EQ(excerpt("\n\x1b\xff"
                    "é\xc3"),
            "\"\\n\\x1b\\xffé\\xc3\"");
  EXPECT_EQ(excerpt(U"a\u202eb\u0085"), "\"a\\u202eb\\x85\"");
  EXPECT_EQ(excerpt(std::string(40, 'a')), "\"" + std::string(40, 'a') + "\"");
  EXPECT_EQ(excerpt(std::string(41, 'a')), "\"" + std::string(40, 'a') + "...\"");
  EXPECT_EQ(excerpt(std::u32string(41, U'a')), "\"" + std::string(40, 'a') + "...\"");
}

}  // namespace
}  // namespace xorder::io
