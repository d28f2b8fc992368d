// Parses the Python literals that .npy headers use. Nothing is evaluated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xorder::io {

/// A parsed literal. A header has at most 1 MiB, which bounds the number of literals.
struct Literal {
  enum class Kind { none, boolean, integer, string, tuple, list, dictionary };
  Kind kind = Kind::none;
  bool truth = false;   // of a boolean
  std::u32string text;  // a string's characters; an integer's decimal digits, any number of them, perhaps
                        // after a minus
  std::vector<Literal> items;  // of a tuple or list; of a dictionary key, value, key, value ...

  bool is(Kind k) const { return kind == k; }
};

/// Parses one literal: None, True, False, integers with a sign or a base (Python 2's suffix L is dropped),
/// strings in single or double quotes with escapes, tuples, lists and dictionaries, nested at most 100 deep,
/// with comments between them. Time and memory are linear in the text's length. Throws InputError, one line
/// without a path, for anything else: calls, operators, floats, sets, adjacent or triple-quoted strings,
/// string prefixes other than Python 2's u, integers from 2^64 up that are not decimal, and anything but
/// white space and comments after the literal.
Literal parse_literal(std::u32string_view text);

/// The literal as Python's repr() writes it, in UTF-8: parse_literal(to_python(x)) gives x again. Control
/// characters, surrogates and characters that change the layout are escaped, so the text is one line. Unlike
/// repr(), it does not escape unassigned code points.
std::string to_python(const Literal& literal);

/// `text` in quotes for an error message: always one line, and cut after 40 characters.
std::string excerpt(std::u32string_view text);
std::string excerpt(std::string_view bytes);

std::string to_utf8(std::u32string_view text);
/// One character for each byte.
std::u32string from_latin1(std::string_view bytes);
/// Throws InputError, one line without a path, for what is not UTF-8.
std::u32string from_utf8(std::string_view bytes);

}  // namespace xorder::io
