#include "memory/bmmc.hpp"

#include <utility>

#include "memory/cache_sizes.hpp"

namespace xorder::memory {

std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed) {
  Mapped mapped = mapped_of(what);
  if (!mapped.has_lines()) return make_bmmc_records(std::move(mapped), streamed);
  const TileShape shape = tile_shape(mapped.map, mapped.element_bytes, what.bytes());
  return make_bmmc_lines(std::move(mapped), shape, streamed);
}

}  // namespace xorder::memory
