#include "io/container/header_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/count_text.hpp"
#include "io/format/python_literal.hpp"
#include "xorder/error.hpp"

namespace xorder::io {

HeaderBytes::HeaderBytes(std::uint64_t file_bytes, Read read)
    : file_bytes_(file_bytes), read_(std::move(read)) {}

HeaderBytes::HeaderBytes(const File& file)
    : HeaderBytes(file.size(), [&file](char* to, std::size_t bytes, std::uint64_t offset) {
        file.read_exactly(to, bytes, offset);
      }) {}

std::string_view HeaderBytes::at(std::uint64_t offset, std::size_t bytes) {
  constexpr std::size_t window_bytes = 8192;
  if (offset > file_bytes_ || bytes > file_bytes_ - offset)
    throw InputError(fmt::format("truncated: its header goes on at byte {}, the file has {}", offset,
                                 count_text(file_bytes_, "byte")));
  spent_ += bytes;
  if (bytes > max_header_bytes || spent_ > max_header_bytes)
    throw InputError(
        fmt::format("its header has more than {} bytes, the most that are read", max_header_bytes));
  if (offset < window_at_ || offset - window_at_ > window_.size() ||
      bytes > window_.size() - (offset - window_at_)) {
    window_.resize(std::min<std::uint64_t>(std::max(bytes, window_bytes), file_bytes_ - offset));
    if (!window_.empty()) read_(window_.data(), window_.size(), offset);
    window_at_ = offset;
  }
  return std::string_view(window_).substr(static_cast<std::size_t>(offset - window_at_), bytes);
}

std::int64_t whole_number(std::string_view text, std::string_view what) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || digits.empty())
    throw InputError(fmt::format("{} is {}; expected a whole number", what, excerpt(text)));
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

}  // namespace xorder::io
