#include "xorder/permutation/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "permutation/quote.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder {
namespace {

using gf2::AffineMap;
using gf2::Word;

constexpr std::size_t longest_text = 10'000;
constexpr int deepest_nesting = 100;

// A number as written. Each permutation checks the range of its own arguments.
struct Argument {
  bool negative = false;
  Word magnitude = 0;
};
using Arguments = std::vector<Argument>;

std::string written(const Argument& a) { return fmt::format("{}{}", a.negative ? "-" : "", a.magnitude); }

int small_number(const Argument& a) {
  constexpr int limit = std::numeric_limits<int>::max();
  if (a.magnitude > limit) {
    throw InputError(fmt::format("expected a number from -{} to {}, found {}", limit, limit, written(a)));
  }
  const int value = static_cast<int>(a.magnitude);
  return a.negative ? -value : value;
}

AffineMap transpose(const Arguments& arguments, int n) {
  const int lg_rows = small_number(arguments[0]);
  const int lg_cols = small_number(arguments[1]);
  const std::int64_t sum = std::int64_t{lg_rows} + lg_cols;
  if (lg_rows < 0 || lg_cols < 0 || sum != n) {
    throw InputError(fmt::format(
        "expected lg rows and lg columns, from 0 up, whose sum is the index's {} bits; {} + {} = {}", n,
        lg_rows, lg_cols, sum));
  }
  return bmmc::transpose(lg_rows, lg_cols);
}

AffineMap bits(const Arguments& arguments, int n) {
  if (arguments.size() != static_cast<std::size_t>(n)) {
    throw InputError(
        fmt::format("expected {} numbers, one for each index bit, found {}", n, arguments.size()));
  }
  std::vector<int> sources;
  for (const Argument& a : arguments) sources.push_back(small_number(a));
  return bmmc::bits(sources);
}

AffineMap exclusive_or(const Arguments& arguments, int n) {
  if (arguments[0].negative)
    throw InputError(fmt::format("expected a number from 0 up, found {}", written(arguments[0])));
  return bmmc::exclusive_or(n, arguments[0].magnitude);
}

struct Name {
  std::string_view name;
  std::string_view parameters;  // as shown to users
  int arity;                    // any_number: map() checks it
  AffineMap (*map)(const Arguments&, int n);
};
constexpr int any_number = -1;

constexpr std::array names = {
    Name{"identity", "", 0, [](const Arguments&, int n) { return bmmc::identity(n); }},
    Name{"reverse", "", 0, [](const Arguments&, int n) { return bmmc::reverse(n); }},
    Name{"bitreverse", "", 0, [](const Arguments&, int n) { return bmmc::bit_reverse(n); }},
    Name{"gray", "", 0, [](const Arguments&, int n) { return bmmc::gray(n); }},
    Name{"transpose", "(lgR,lgC)", 2, transpose},
    Name{"shuffle", "", 0, [](const Arguments&, int n) { return bmmc::shuffle(n); }},
    Name{"unshuffle", "", 0, [](const Arguments&, int n) { return bmmc::shuffle(n).inverse(); }},
    Name{"rotate", "(k)", 1, [](const Arguments& a, int n) { return bmmc::rotate(n, small_number(a[0])); }},
    Name{"morton", "(d)", 1, [](const Arguments& a, int n) { return bmmc::morton(n, small_number(a[0])); }},
    Name{"bits", "(i,j,...)", any_number, bits},
    Name{"xor", "(c)", 1, exclusive_or},
};

std::string list_of_names() {
  std::string list;
  for (const Name& n : names) list += fmt::format("{}{}{}", list.empty() ? "" : ", ", n.name, n.parameters);
  return list;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The value of a digit in base 16; 16 for anything else.
Word digit_value(char c) {
  if (is_digit(c)) return static_cast<Word>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<Word>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<Word>(c - 'A' + 10);
  return 16;
}

// By repeated squaring.
AffineMap power(AffineMap base, Word exponent) {
  AffineMap result = AffineMap::identity(base.bits());
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * base;
    base = base * base;
  }
  return result;
}

// Recursive descent; one member function for each rule of the grammar in the header.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, int n, std::span<const std::uint64_t> extents)
      : text_(text), n_(n), extents_(extents) {}

  AffineMap parse() {
    AffineMap map = expression();
    if (at_ < text_.size()) fail("expected '*', '^' or the end");
    return map;
  }

 private:
  AffineMap expression() {
    AffineMap map = term();
    while (accept('*')) map = map * term();
    return map;
  }

  AffineMap term() {
    AffineMap map = primary();
    while (accept('^')) {
      const Argument exponent = argument();
      map = power(exponent.negative ? map.inverse() : map, exponent.magnitude);
    }
    return map;
  }

  AffineMap primary() {
    if (accept('(')) {
      if (++depth_ > deepest_nesting)
        fail_at(at_ - 1, fmt::format("more than {} nested parentheses", deepest_nesting));
      AffineMap map = expression();
      expect(')', "'*', '^' or ')'");
      --depth_;
      return map;
    }
    if (at_ == text_.size() || !is_letter(text_[at_])) fail("expected a name or '('");
    return named();
  }

  AffineMap named() {
    const std::size_t begin = at_;
    const Name& name = known_name(word());
    const Arguments arguments = argument_list();
    if (name.arity != any_number && arguments.size() != static_cast<std::size_t>(name.arity)) {
      fail_at(begin, fmt::format("expected {}{}, with {} argument{}, found {}", name.name, name.parameters,
                                 name.arity == 0 ? "no" : std::to_string(name.arity),
                                 name.arity == 1 ? "" : "s", arguments.size()));
    }
    try {
      const AffineMap map = name.map(arguments, n_);
      if (name.name == "morton") check_axes(arguments[0].magnitude);
      return map;
    } catch (const InputError& e) {
      fail_at(begin, fmt::format("{}{}: {}", name.name, name.parameters, e.what()));
    }
  }

  // The map of d equal axes takes an array of others for one that it is not.
  void check_axes(Word d) const {
    std::vector<std::uint64_t> axes(extents_.begin(), extents_.end());
    std::erase(axes, 1u);
    if (axes.size() < 2) return;
    const std::vector<std::uint64_t> expected(d, std::uint64_t{1} << static_cast<Word>(n_) / d);
    if (axes == expected) return;
    throw InputError(fmt::format("expected an array of one axis or of shape ({}), found ({})",
                                 fmt::join(expected, ", "), fmt::join(extents_, ", ")));
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  const Name& known_name(std::string_view given) {
    const auto found = std::ranges::find(names, given, &Name::name);
    if (found != names.end()) return *found;
    constexpr std::size_t shown = 40;
    fail_at(at_ - given.size(),
            fmt::format("there is no permutation '{}{}'; expected one of {}", given.substr(0, shown),
                        given.size() > shown ? "..." : "", list_of_names()));
  }

  Arguments argument_list() {
    Arguments arguments;
    if (!accept('(') || accept(')')) return arguments;
    do {
      arguments.push_back(argument());
    } while (accept(','));
    expect(')', "',' or ')'");
    return arguments;
  }

  Argument argument() {
    Argument a;
    a.negative = accept('-');
    skip_blanks();
    a.magnitude = number();
    return a;
  }

  Word number() {
    const std::size_t begin = at_;
    const std::string_view prefix = text_.substr(at_, 2);
    const Word base = prefix == "0x" || prefix == "0X" ? 16 : prefix == "0b" || prefix == "0B" ? 2 : 10;
    if (base != 10) at_ += 2;
    Word value = 0;
    const std::size_t first = at_;
    for (; at_ < text_.size() && digit_value(text_[at_]) < base; ++at_) {
      if (__builtin_mul_overflow(value, base, &value) ||
          __builtin_add_overflow(value, digit_value(text_[at_]), &value)) {
        fail_at(begin, "expected a number below 2^64");
      }
    }
    if (at_ == first)
      fail(base == 10 ? "expected a number" : base == 16 ? "expected a hex digit" : "expected 0 or 1");
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  // Skips blanks. If the next character is c, moves past it and returns true.
  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, std::string_view what) {
    if (!accept(c)) fail(fmt::format("expected {}", what));
  }

  [[noreturn]] void fail(const std::string& what) const {
    if (at_ == text_.size()) fail_at(at_, what + ", found the end");
    fail_at(at_, fmt::format("{}, found {}", what, quoted_character(text_, at_)));
  }

  [[noreturn]] void fail_at(std::size_t offset, const std::string& what) const {
    throw InputError(fmt::format("expression, character {}: {}", character_number(text_, offset), what));
  }

  std::string_view text_;
  int n_;
  std::span<const std::uint64_t> extents_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

AffineMap parse_expression(std::string_view text, int n, std::span<const std::uint64_t> extents) {
  bmmc::identity(n);  // throws unless n is a number of bits that an index can have
  if (text.size() > longest_text) {
    throw InputError(
        fmt::format("an expression has at most {} characters, not {}", longest_text, text.size()));
  }
  return ExpressionParser(text, n, extents).parse();
}

}  // namespace xorder
