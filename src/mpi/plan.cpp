#include "mpi/plan.hpp"

namespace xorder::mpi {

// FNV-1a of the word's bytes.
void Plan::add_to_digest(std::uint64_t word) {
  for (int byte = 0; byte < 8; ++byte, word >>= 8) digest_ = (digest_ ^ (word & 0xff)) * 0x100000001b3;
}

void Plan::add_to_digest(std::span<const std::uint64_t> words) {
  add_to_digest(words.size());
  for (const std::uint64_t word : words) add_to_digest(word);
}

}  // namespace xorder::mpi
