#include "run/transpose_stage.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>

#include "run/handover.hpp"
#include "run/storage.hpp"
#include "xorder/error.hpp"
#include "xorder/io/memory.hpp"
#include "xorder/kernel/kernel.hpp"

namespace xorder::run {
namespace {

namespace tbb = oneapi::tbb;
using std::uint64_t;

// Two panels, of each what was read and what will be written.
constexpr uint64_t buffers = 4;
constexpr uint64_t page = 4096;

uint64_t round_up(uint64_t x) { return (x + page - 1) / page * page; }

kernel::Layout panel_layout(uint64_t rows, uint64_t columns, uint64_t element_bytes) {
  kernel::Layout layout;
  layout.element_bytes = element_bytes;
  layout.axes = {{rows, {.runs = 1}, {.bytes = element_bytes}},
                 {columns, {.bytes = element_bytes}, {.bytes = rows * element_bytes}}};
  return layout;
}

}  // namespace

TransposeStage::TransposeStage(BlockMatrix matrix, uint64_t memory) : matrix_(matrix), memory_(memory) {
  const uint64_t rows = (matrix_.rows + matrix_.blocks - 1) / matrix_.blocks;
  const uint64_t columns = (matrix_.columns + matrix_.blocks - 1) / matrix_.blocks;
  const uint64_t room = (memory - StorageArena::overhead(memory)) / buffers;
  const auto bytes = [&](uint64_t width) {
    return rows * (round_up(width * matrix_.element_bytes) + 2 * page);
  };
  if (bytes(1) > room) {
    throw InputError(fmt::format(
        "blocks of {} rows are too much for {} bytes of memory; take more processors or more memory", rows,
        memory));
  }
  width_ = columns;
  while (bytes(width_) > room) width_ = (width_ + 1) / 2;
}

// Rows are read with what shares their pages.
uint64_t TransposeStage::panel_bytes() const {
  const uint64_t rows = (matrix_.rows + matrix_.blocks - 1) / matrix_.blocks;
  return rows * (round_up(width_ * matrix_.element_bytes) + 2 * page);
}

void TransposeStage::add_to(Summary& all) const {
  const uint64_t bytes = matrix_.rows * matrix_.columns * matrix_.element_bytes;
  const uint64_t columns = (matrix_.columns + matrix_.blocks - 1) / matrix_.blocks;
  const uint64_t panels = matrix_.blocks * matrix_.blocks * ((columns + width_ - 1) / width_);
  all.bytes_read += bytes;
  all.bytes_written += bytes;
  all.passes.push_back({panels, bytes / std::max<uint64_t>(panels, 1), width_ * matrix_.element_bytes,
                        bytes / std::max<uint64_t>(panels, 1),
                        buffers * panel_bytes() + StorageArena::overhead(memory_), 0});
}

std::string TransposeStage::describe() const {
  return fmt::format("{} x {} blocks, each transposed by itself, {} columns at a time\n", matrix_.blocks,
                     matrix_.blocks, width_);
}

/// Some columns of a block.
class TransposeStage::Panel {
 public:
  explicit Panel(const TransposeStage& stage)
      : matrix_(stage.matrix_), read_(stage.panel_bytes()), transposed_(stage.panel_bytes()) {}

  void load(Place source, Storage& storage, uint64_t i, uint64_t j, uint64_t first, uint64_t end) {
    const uint64_t e = matrix_.element_bytes, row = matrix_.row(i);
    rows_ = matrix_.row(i + 1) - row;
    columns_ = end - first;
    target_ = matrix_.scratch(i, j) + (first - matrix_.column(j)) * rows_ * e;
    pitch_ = round_up(columns_ * e) + 2 * page;
    sources_.resize(rows_);
    hand_over();
    tbb::parallel_for(uint64_t{0}, rows_, [&](uint64_t y) {
      received();
      const uint64_t begin = source.offset + ((row + y) * matrix_.columns + first) * e;
      const uint64_t from = begin / page * page,
                     to = std::min(round_up(begin + columns_ * e), source.file.size());
      std::byte* const memory = read_.data() + y * pitch_;
      storage.read({source.file, 0}, from, memory, to - from);
      sources_[y] = memory + (begin - from);
      hand_over();
    });
    received();
  }

  void store(Place target, Storage& storage) {
    const uint64_t e = matrix_.element_bytes;
    const kernel::Kernel kernel(panel_layout(rows_, columns_, e));
    constexpr uint64_t strip = 64;  // columns for one thread
    hand_over();
    tbb::parallel_for(uint64_t{0}, (columns_ + strip - 1) / strip, [&](uint64_t s) {
      received();
      const uint64_t first = s * strip, lengths[] = {rows_, std::min(strip, columns_ - first)};
      std::vector<const std::byte*> sources(sources_);
      for (const std::byte*& row : sources) row += first * e;
      std::byte* const to = transposed_.data() + first * rows_ * e;
      kernel(sources.data(), &to, lengths, 0);
      hand_over();
    });
    received();
    storage.write(target, target_, transposed_.data(), rows_ * columns_ * e);
  }

 private:
  const BlockMatrix& matrix_;
  io::BlockMemory read_, transposed_;
  uint64_t rows_ = 0, columns_ = 0, pitch_ = 0, target_ = 0;
  std::vector<const std::byte*> sources_;
};

void TransposeStage::run(Place source, Place target, const Environment& environment) {
  Storage storage(environment.stop);
  StorageArena arena(environment.threads, memory_);
  Panel panels[] = {Panel(*this), Panel(*this)};
  environment.tracker.begin_pass();
  ++environment.report.passes;
  arena.run(
      [&] {
        uint64_t block = 0, column = 0, number = 0;
        const uint64_t blocks = matrix_.blocks * matrix_.blocks;
        const auto load = [&](tbb::flow_control& flow) -> Panel* {
          received();
          if (block == blocks) {
            flow.stop();
            return nullptr;
          }
          const uint64_t i = block / matrix_.blocks, j = block % matrix_.blocks;
          const uint64_t first = matrix_.column(j) + column, last = matrix_.column(j + 1);
          const uint64_t end = std::min(first + width_, last);
          Panel& panel = panels[number++ % 2];
          panel.load(source, storage, i, j, first, end);
          column += width_;
          if (end == last) {
            ++block;
            column = 0;
          }
          hand_over();
          return &panel;
        };
        const auto store = [&](Panel* panel) {
          received();
          panel->store(target, storage);
          hand_over();
        };
        constexpr auto in_order = tbb::filter_mode::serial_in_order;
        tbb::parallel_pipeline(2, tbb::make_filter<void, Panel*>(in_order, load) &
                                      tbb::make_filter<Panel*, void>(in_order, store));
      },
      [&] { environment.tracker.show(storage.bytes()); });
  storage.add_to(environment.report);
}

}  // namespace xorder::run
