#include "machine/band_stage.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "io/memory.hpp"
#include "machine/storage.hpp"
#include "task/handover.hpp"
#include "task/in_turn.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

namespace tbb = oneapi::tbb;
using std::int64_t;
using std::uint64_t;

// Two blocks on their way, before and after.
constexpr uint64_t blocks_in_memory = 4;
constexpr uint64_t rows_at_once = 256;  // of a part, by a task

// 1 + 2 + .. + m, or 0. Modulo 2^64, as only differences matter.
uint64_t triangle(int64_t m) {
  if (m <= 0) return 0;
  const auto u = static_cast<uint64_t>(m);
  return u % 2 == 0 ? u / 2 * (u + 1) : u * ((u + 1) / 2);
}

// The columns j of [begin, end) with j < i + shift, for all rows i < row.
uint64_t columns_below(int64_t row, int64_t shift, int64_t begin, int64_t end) {
  return triangle(row - 1 + shift - begin) - triangle(row - 1 + shift - end);
}

}  // namespace

BandGeometry::BandGeometry(const Band& band, const schedule::BandLayout& layout, uint64_t element_bytes)
    : band_(band), layout_(layout), element_bytes_(element_bytes) {
  const uint64_t processors = uint64_t{1} << layout.dimension;
  row_bytes_ = band.width() * element_bytes;
  for (uint64_t t = 0; t < processors; ++t) {
    panels_.push_back({column(t) * row_bytes_, column(t + 1) - column(t), {}});
  }
  for (uint64_t c = 0; c < processors; ++c) {
    for (const Sent& sent : sent_by(c)) panels_[sent.target].parts.push_back(sent.part);
  }
}

uint64_t BandGeometry::column(uint64_t block) const {
  const uint64_t processors = uint64_t{1} << layout_.dimension;
  return band_.n / processors * block + std::min(block, band_.n % processors);
}

std::vector<BandGeometry::Sent> BandGeometry::sent_by(uint64_t block) const {
  std::vector<Sent> all;
  const uint64_t mask = (uint64_t{1} << layout_.dimension) - 1;
  uint64_t scratch = column(block) * row_bytes_;
  for (uint64_t slot = 0; slot < layout_.width(); ++slot) {
    const uint64_t t = (block + layout_.offset(slot)) & mask;
    const Part part{{layout_.node(block), slot}, scratch, column(block), column(block + 1) - column(block)};
    // Rows count from the beginning of the receiver's block.
    Part counted = part;
    counted.first_row = column(t);
    const uint64_t bytes = before(counted, column(t + 1) - column(t));
    if (bytes == 0) continue;
    all.push_back({counted, t});
    scratch += bytes;
  }
  return all;
}

uint64_t BandGeometry::before(const Part& part, uint64_t row) const {
  const auto n = static_cast<int64_t>(band_.n);
  const auto first = static_cast<int64_t>(part.first_row), last = static_cast<int64_t>(part.first_row + row);
  uint64_t elements = 0;
  for (int64_t around = band_.cyclic ? -1 : 0; around <= (band_.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const auto up_to = [&](int64_t r) {
      return columns_below(r, static_cast<int64_t>(band_.upper) + 1, begin, end) -
             columns_below(r, -static_cast<int64_t>(band_.lower), begin, end);
    };
    elements += up_to(last) - up_to(first);
  }
  return elements * element_bytes_;
}

std::span<const BandGeometry::Columns> BandGeometry::columns(const Part& part, uint64_t row,
                                                             std::array<Columns, 3>& out) const {
  const auto n = static_cast<int64_t>(band_.n), i = static_cast<int64_t>(part.first_row + row);
  std::size_t count = 0;
  for (int64_t around = band_.cyclic ? -1 : 0; around <= (band_.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const int64_t from = std::max(begin, i - static_cast<int64_t>(band_.lower));
    const int64_t to = std::min(end, i + static_cast<int64_t>(band_.upper) + 1);
    if (from < to)
      out[count++] = {static_cast<uint64_t>(from - around * n), static_cast<uint64_t>(to - from)};
  }
  return std::span(out).first(count);
}

std::span<const StripeGeometry::Run> BandGeometry::runs(const Part& part, uint64_t row,
                                                        std::array<Run, 3>& out) const {
  std::array<Columns, 3> space;
  std::size_t count = 0;
  for (const auto& [first, columns] : columns(part, row, space)) {
    // a[i, j] is at j − i + KL of record i, modulo N.
    const uint64_t i = part.first_row + row;
    const uint64_t place = (first + band_.lower + (first + band_.lower < i ? band_.n : 0) - i) % band_.n;
    out[count++] = {row * row_bytes_ + place * element_bytes_, columns * element_bytes_};
  }
  return std::span(out).first(count);
}

bool BandStage::fits(const Band& band, int lg_processors, uint64_t element_bytes, uint64_t memory) {
  const uint64_t columns = (band.n >> lg_processors) + 1;  // at most
  return columns <= (memory - storage_overhead(memory)) / blocks_in_memory / (band.width() * element_bytes);
}

BandStage::BandStage(const Band& band, const schedule::BandLayout& layout, uint64_t element_bytes,
                     uint64_t memory)
    : band_(band),
      layout_(layout),
      geometry_(band, layout, element_bytes),
      element_bytes_(element_bytes),
      memory_(memory) {
  if (!fits(band, layout.dimension, element_bytes, memory)) {
    throw InputError(
        fmt::format("a block of {} bytes for each of {} virtual processors is too much for {} bytes of "
                    "memory, which have to hold {} of them; take more processors or more memory",
                    block_bytes(), uint64_t{1} << layout.dimension, memory, blocks_in_memory));
  }
}

uint64_t BandStage::block_bytes() const { return geometry_.column(1) * geometry_.row_bytes(); }

std::vector<plan::PassSummary> BandStage::passes() const {
  const uint64_t bytes = band_.places() * element_bytes_;
  return {{.tiles = uint64_t{1} << layout_.dimension,
           .tile_bytes = block_bytes(),
           .source_block_bytes = block_bytes(),
           .target_block_bytes = block_bytes(),
           .memory = blocks_in_memory * block_bytes() + storage_overhead(memory_),
           .bytes_read = bytes,
           .bytes_written = bytes}};
}

std::string BandStage::describe() const {
  return fmt::format("{} virtual processors put their {} bytes in the order of the receivers\n",
                     uint64_t{1} << layout_.dimension, block_bytes());
}

namespace {

/// A processor's records, and what it makes of them.
struct Block {
  uint64_t number = 0;
  uint64_t bytes = 0;  // of what it has for others, which is less where places are unused
  io::BlockMemory records, sent;
};

// Copies element by element along a diagonal of the storage: from one record to the next, `pitch` bytes
// further.
template <std::size_t bytes>
void copy_strided(std::byte* to, const std::byte* from, int64_t pitch, uint64_t count) {
  for (uint64_t k = 0; k < count; ++k) {
    std::memcpy(to + k * bytes, from + static_cast<int64_t>(k) * pitch, bytes);
  }
}

void copy_strided(std::byte* to, const std::byte* from, int64_t pitch, uint64_t count, uint64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_strided<1>(to, from, pitch, count);
    case 2:
      return copy_strided<2>(to, from, pitch, count);
    case 4:
      return copy_strided<4>(to, from, pitch, count);
    case 8:
      return copy_strided<8>(to, from, pitch, count);
    case 16:
      return copy_strided<16>(to, from, pitch, count);
    default:
      for (uint64_t k = 0; k < count; ++k) {
        std::memcpy(to + k * bytes, from + static_cast<int64_t>(k) * pitch, bytes);
      }
  }
}

}  // namespace

void BandStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  const uint64_t blocks = uint64_t{1} << layout_.dimension, width = band_.width(), e = element_bytes_;
  Storage storage(run.stop());
  task::Workers workers(storage_threads(run.frame().options.threads, memory_));
  Block space[2];
  for (Block& block : space) {
    block.records = io::BlockMemory(block_bytes());
    block.sent = io::BlockMemory(block_bytes());
  }

  const auto arrange = [&](Block& block) {
    const uint64_t begin = geometry_.column(block.number);
    block.bytes = 0;
    for (const auto& [part, t] : geometry_.sent_by(block.number)) {
      const uint64_t rows = geometry_.column(t + 1) - geometry_.column(t);
      std::byte* const content = block.sent.data() + (part.scratch - begin * width * e);
      const auto some_rows = [&](uint64_t number) {
        const task::InTask task;
        const uint64_t first_row = number * rows_at_once, end = std::min(rows, first_row + rows_at_once);
        std::byte* to = content + geometry_.before(part, first_row);
        std::array<BandGeometry::Columns, 3> pieces;
        for (uint64_t y = first_row; y < end; ++y) {
          const uint64_t i = part.first_row + y;
          for (const auto& [first, count] : geometry_.columns(part, y, pieces)) {
            // a[i, j] is at i − j + KU of record j, modulo N; the next column has it one place earlier.
            const uint64_t place =
                (i + band_.upper + (i + band_.upper < first ? band_.n : 0) - first) % band_.n;
            const std::byte* const from = block.records.data() + ((first - begin) * width + place) * e;
            copy_strided(to, from, static_cast<int64_t>((width - 1) * e), count, e);
            to += count * e;
          }
        }
      };
      const task::AroundTasks around;
      tbb::parallel_for(uint64_t{0}, (rows + rows_at_once - 1) / rows_at_once, some_rows);
      block.bytes += geometry_.before(part, rows);
    }
  };

  run.begin(2 * band_.places() * e, pass);
  run.with(workers, [&] {
    uint64_t next = 0;
    const auto load = [&](Block& block) {
      if (next == blocks) return false;
      block.number = next++;
      const uint64_t begin = geometry_.column(block.number), end = geometry_.column(block.number + 1);
      storage.read(source, begin * width * e, block.records.data(), (end - begin) * width * e);
      return true;
    };
    const auto store = [&](const Block& block) {
      storage.write(target, geometry_.column(block.number) * width * e, block.sent.data(), block.bytes);
    };
    task::in_turn(space, load, arrange, store);
  });
}

}  // namespace xorder::machine
