// The engine for maps that cannot be performed line by line: elements whose size is no power of two, and maps
// of less than a line (kernel/linear/record_mover.hpp).
#include <fmt/format.h>

#include "kernel/linear/record_mover.hpp"
#include "memory/bmmc/bmmc.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using gf2::Word;

class MappedRecords : public BmmcEngine {
 public:
  MappedRecords(Mapped mapped, kernel::TileShape shape, bool streamed)
      : BmmcEngine(std::move(mapped), shape),
        write_(copy_function(streamed)),
        mover_(mapped_.map.matrix, mapped_.element_bytes, shape, streamed),
        streamed_(streamed),
        last_(gf2::low_mask(mapped_.map.bits()) & ~gf2::low_mask(shape.source_bits)) {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::size_t w = mapped_.element_bytes;
    const Scratch buffer(mover_.buffer_bytes());
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, std::uint64_t count, const std::byte* from, std::byte* to) {
                   const auto source_of = [=](Word x) { return from + x * w; };
                   const auto target_of = [=](Word y) { return to + y * w; };
                   TileWalk::Place next = place;
                   for (std::uint64_t i = 0; i < count; ++i, place = next) {
                     walk_.advance(next);
                     if (walk_.tile_bits() == 0) {
                       write_(target_of(place.target), source_of(place.source), w);
                     } else {
                       mover_.move(source_of, place.source, next.source, target_of, place.target,
                                   place.source != last_, buffer.data());
                     }
                   }
                 });
  }

  std::string describe() const override {
    return fmt::format("map of {} bits, elements of {} bytes {}; tiles of {} segments of {} elements{}",
                       mapped_.map.bits(), mapped_.element_bytes,
                       mover_.in_cells() ? "in cells" : "one by one", mover_.segments(),
                       mover_.segment_elements(), streamed_ ? ", streamed" : "");
  }

 private:
  CopyFunction write_;
  kernel::RecordMover mover_;
  bool streamed_;
  Word last_;  // the first element of the source's last run
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_records(Mapped mapped, bool streamed) {
  const kernel::TileShape shape = record_shape(mapped.map, mapped.element_bytes);
  return std::make_unique<MappedRecords>(std::move(mapped), shape, streamed);
}

}  // namespace xorder::memory
