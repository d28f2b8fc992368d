#include "machine/band_stage.hpp"

#include <algorithm>

#include "io/memory.hpp"
#include "kernel/pieces.hpp"
#include "machine/storage.hpp"
#include "task/in_turn.hpp"
#include "task/parallel.hpp"

namespace xorder::machine {
namespace {

using plan::BandGeometry;
using std::int64_t;
using std::uint64_t;

constexpr uint64_t rows_at_once = 256;  // of a part, by a task

/// A processor's records, and what it makes of them.
class Block {
 public:
  explicit Block(const BandGeometry& geometry)
      : geometry_(geometry), records_(geometry.block_bytes()), sent_(geometry.block_bytes()) {}

  void load(Storage& storage, io::Location source, uint64_t number) {
    number_ = number;
    const uint64_t begin = geometry_.begin(number);
    storage.read(source, begin, records_.data(), geometry_.begin(number + 1) - begin);
  }
  void arrange() {
    bytes_ = 0;
    for (const BandGeometry::Sent& sent : geometry_.sent_by(number_)) {
      arrange(sent);
      bytes_ += sent.bytes;
    }
  }
  void store(Storage& storage, io::Location target) const {
    storage.write(target, geometry_.begin(number_), sent_.data(), bytes_);
  }

 private:
  void arrange(const BandGeometry::Sent& sent) {
    task::each((sent.rows + rows_at_once - 1) / rows_at_once, [&](uint64_t number) {
      arrange(sent.part, number * rows_at_once, std::min(sent.rows, (number + 1) * rows_at_once));
    });
  }
  void arrange(const BandGeometry::Part& part, uint64_t first, uint64_t end) {
    const uint64_t begin = geometry_.begin(number_), bytes = geometry_.element_bytes();
    const auto size = static_cast<int64_t>(bytes), pitch = static_cast<int64_t>(geometry_.pitch());
    std::byte* to = sent_.data() + (part.scratch - begin) + geometry_.before(part, first);
    std::array<BandGeometry::Diagonal, 3> space;
    for (uint64_t row = first; row < end; ++row) {
      for (const auto& [source, count] : geometry_.diagonals(part, row, space)) {
        kernel::copy_pieces(to, size, records_.data() + (source - begin), pitch, bytes, count);
        to += count * bytes;
      }
    }
  }

  const BandGeometry& geometry_;
  uint64_t number_ = 0;
  uint64_t bytes_ = 0;  // of what it has for others, which is less where places are unused
  io::BlockMemory records_, sent_;
};

}  // namespace

void BandStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  Storage storage(run.stop());
  task::Workers workers = transfer_workers(run.frame());
  Block blocks[] = {Block(*geometry_), Block(*geometry_)};
  run.begin(pass_.bytes_read + pass_.bytes_written, pass);
  run.with(workers, [&] {
    uint64_t next = 0;
    const auto load = [&](Block& block) {
      if (next == geometry_->processors()) return false;
      block.load(storage, source, next++);
      return true;
    };
    const auto arrange = [&](Block& block) { block.arrange(); };
    const auto store = [&](const Block& block) { block.store(storage, target); };
    task::in_turn(blocks, load, arrange, store);
  });
}

}  // namespace xorder::machine
