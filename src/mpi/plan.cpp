#include "mpi/plan.hpp"

namespace xorder::mpi {

// FNV-1a of the word's bytes.
void Plan::digest(std::uint64_t word) {
  for (int byte = 0; byte < 8; ++byte, word >>= 8) digest_ = (digest_ ^ (word & 0xff)) * 0x100000001b3;
}

void Plan::digest(std::span<const std::uint64_t> words) {
  digest(words.size());
  for (const std::uint64_t word : words) digest(word);
}

}  // namespace xorder::mpi
