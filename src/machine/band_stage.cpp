#include "machine/band_stage.hpp"

#include <algorithm>
#include <optional>

#include "kernel/pieces.hpp"
#include "machine/in_steps.hpp"
#include "machine/processor_block.hpp"
#include "machine/storage.hpp"
#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "task/parallel.hpp"

namespace xorder::machine {
namespace {

using plan::BandGeometry;
using std::int64_t;
using std::uint64_t;

constexpr uint64_t rows_at_once = 256;  // rows of a part that a task does

/// A processor's block of one matrix, and its elements in the order in which they are sent.
class Block {
 public:
  Block(const BandGeometry& geometry, Storage& storage, task::BufferPool& pool)
      : geometry_(geometry), storage_(storage), source_room_(pool), target_room_(pool) {}

  void load(const work::Run& run, uint64_t number) {
    number_ = number;
    const uint64_t begin = geometry_.begin(number), bytes = geometry_.begin(number + 1) - begin;
    source_.emplace(storage_, run.source_at(begin), 0, bytes, ProcessorBlock::Use::read,
                    plan::least_in_place(geometry_.block_bytes()));
    records_ = source_->fill(0, bytes, source_room_);
  }
  void arrange(io::Location target) {
    const std::vector<BandGeometry::Sent> all = geometry_.sent_by(number_);
    uint64_t bytes = 0;  // fewer than the block has if places are unused
    for (const BandGeometry::Sent& sent : all) bytes += sent.bytes;
    target_.emplace(storage_, target, geometry_.begin(number_), bytes, ProcessorBlock::Use::write,
                    plan::least_in_place(geometry_.block_bytes()));
    sent_ = target_->make(0, bytes, target_room_);
    for (const BandGeometry::Sent& sent : all) arrange(sent);
    source_.reset();
    source_room_.clear();
  }
  void store() {
    target_->empty();
    target_.reset();
    target_room_.clear();
  }

 private:
  void arrange(const BandGeometry::Sent& sent) {
    task::each(ceil_div(sent.rows, rows_at_once), [&](uint64_t number) {
      arrange(sent.part, number * rows_at_once, std::min(sent.rows, (number + 1) * rows_at_once));
    });
  }
  void arrange(const BandGeometry::Part& part, uint64_t first, uint64_t end) {
    const uint64_t begin = geometry_.begin(number_), bytes = geometry_.element_bytes();
    const auto size = static_cast<int64_t>(bytes), pitch = static_cast<int64_t>(geometry_.pitch(part));
    std::byte* to = sent_ + (part.scratch - begin) + geometry_.before(part, first);
    std::array<BandGeometry::Diagonal, 3> space;
    for (uint64_t row = first; row < end; ++row) {
      for (const auto& [source, count] : geometry_.diagonals(part, row, space)) {
        kernel::copy_pieces(to, size, records_ + (source - begin), pitch, bytes, count);
        to += count * bytes;
      }
    }
  }

  const BandGeometry& geometry_;
  Storage& storage_;
  uint64_t number_ = 0;
  Room source_room_, target_room_;
  std::optional<ProcessorBlock> source_, target_;
  const std::byte* records_ = nullptr;
  std::byte* sent_ = nullptr;
};

}  // namespace

void BandStage::move(work::Run& run, const work::Relay& relay, std::size_t first) {
  const io::Location target = relay.target(first);
  Storage storage(run.stop());
  task::BufferPool pool(Room::bytes_for(geometry_->block_bytes()));
  Block blocks[] = {Block(*geometry_, storage, pool), Block(*geometry_, storage, pool)};
  const auto arrange_blocks = [&](const auto& each_step) {
    const auto load = [&](Block& block, uint64_t number) { block.load(run, number); };
    const auto arrange = [&](Block& block) { block.arrange(target); };
    const auto store = [](Block& block) { block.store(); };
    each_step(load, arrange, store);
  };
  in_steps(run, steps_of(pass_, first, geometry_->blocks()), target.file, blocks, arrange_blocks);
}

}  // namespace xorder::machine
