#include "memory/bmmc.hpp"

#include <algorithm>
#include <bit>

#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"

namespace xorder::memory {
namespace {

bool has_lines(const Mapped& mapped) {
  return std::has_single_bit(mapped.element_bytes) && mapped.bytes() >= line_bytes;
}

}  // namespace

std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed) {
  Mapped mapped = mapped_of(what);
  if (!has_lines(mapped)) return make_bmmc_records(std::move(mapped), streamed);
  const TileShape shape = tile_shape(mapped.map, mapped.element_bytes, in_caches(what.bytes()));
  return make_bmmc_lines(std::move(mapped), shape, streamed);
}

std::unique_ptr<Engine> make_exchange_engine(const Reordering& what) {
  Mapped mapped = mapped_of(what);
  if (!has_lines(mapped) || !std::ranges::is_sorted(what.order)) return nullptr;
  TileShape shape = tile_shape(mapped.map, mapped.element_bytes, true);
  shape.source_bits = shape.target_bits;
  auto engine = make_bmmc_lines(std::move(mapped), shape, false);  // target lines were just read: cached
  return engine->exchanges() ? std::move(engine) : nullptr;
}

}  // namespace xorder::memory
