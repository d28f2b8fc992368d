#include "descend/numbers.hpp"

#include <cstring>

namespace xorder::descend {
namespace {

template <typename Word, typename Swap>
void swap_words(std::byte* words, std::size_t count, const Swap& swap) {
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, words + i * sizeof word, sizeof word);
    word = swap(word);
    std::memcpy(words + i * sizeof word, &word, sizeof word);
  }
}

}  // namespace

void swap_bytes(std::byte* numbers, std::size_t count, std::size_t bytes_each) {
  if (bytes_each == 2)
    swap_words<std::uint16_t>(numbers, count, [](std::uint16_t word) { return __builtin_bswap16(word); });
  if (bytes_each == 4)
    swap_words<std::uint32_t>(numbers, count, [](std::uint32_t word) { return __builtin_bswap32(word); });
  if (bytes_each == 8)
    swap_words<std::uint64_t>(numbers, count, [](std::uint64_t word) { return __builtin_bswap64(word); });
}

}  // namespace xorder::descend
