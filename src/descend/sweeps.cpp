#include "descend/sweeps.hpp"

#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>

#include "xorder/error.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;
using Buffer = task::BufferPool::Buffer;
using oneapi::tbb::filter_mode;
using oneapi::tbb::make_filter;

void check(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

// Records of a request: a power of two, so that requests begin at whole blocks of the disk whatever the
// record.
uint64_t part_of(uint64_t count, uint64_t record_bytes, uint64_t request_bytes) {
  return std::min(count, std::bit_floor(std::max<uint64_t>(1, request_bytes / record_bytes)));
}

// Tasks for reading or writing a range of records in requests.
template <typename Transfer>
void in_requests(uint64_t count, uint64_t record_bytes, uint64_t request_bytes, const Transfer& transfer) {
  const uint64_t part = part_of(count, record_bytes, request_bytes);
  task::each((count + part - 1) / part,
             [&](uint64_t i) { transfer(i * part, std::min(part, count - i * part)); });
}

// A tile of the inter-node sweep, on its way; a row of it is from one block.
struct Offsets {
  uint64_t first = 0;
  Buffer data;
};

struct Chunk {
  uint64_t number = 0;  // mod 2^64: those before the first one come before 0
  Buffer data;          // or nothing
};

// The iterations of one group, for chunk after chunk.
class Stage {
 public:
  Stage(Groups& groups, const Cut& cut, Bits bits, task::BufferPool& pool)
      : groups_(groups), lg_chunk_(cut.lg_chunk), bits_(bits), halo_(cut.halo_chunks(bits)), pool_(pool) {}

  uint64_t halo() const { return halo_; }

  /// Takes the next chunk; gives the one `halo` before it, unless that is too early.
  Chunk push(Chunk chunk) {
    window_.push_back(std::move(chunk));
    if (window_.size() <= 2 * halo_) return {};
    Pieces from{.pieces = {}, .lg_piece = lg_chunk_, .first = window_.front().number << lg_chunk_};
    for (const Chunk& one : window_) from.pieces.push_back(one.data.get());
    Chunk made{window_[halo_].number, pool_.get()};
    groups_.with_halo(bits_, from, made.number << lg_chunk_, uint64_t{1} << lg_chunk_, made.data.get());
    window_.pop_front();
    return made;
  }

 private:
  Groups& groups_;
  int lg_chunk_;
  Bits bits_;
  uint64_t halo_;
  task::BufferPool& pool_;
  std::deque<Chunk> window_;
};

// Reads chunks in their order, those that it begins and ends with from the other end of the file.
class Reader {
 public:
  Reader(const Cut& cut, uint64_t record_bytes, RecordSource& from, uint64_t halo, bool keep,
         task::BufferPool& pool)
      : cut_(cut),
        record_bytes_(record_bytes),
        from_(from),
        keep_(keep),
        pool_(pool),
        next_(-halo),
        end_(cut.chunks() + halo) {
    if (keep) kept_.resize(std::min(halo, cut.chunks()));
  }

  std::optional<Chunk> next() {
    if (next_ == end_) return std::nullopt;
    Chunk chunk{next_++, {}};
    const uint64_t chunks = cut_.chunks(), place = chunk.number & (chunks - 1);
    const bool again = static_cast<std::int64_t>(chunk.number) >= static_cast<std::int64_t>(chunks);
    if (again && keep_) {
      chunk.data = kept_[place];
      return chunk;
    }
    chunk.data = pool_.get();
    const uint64_t count = uint64_t{1} << cut_.lg_chunk;
    in_requests(count, record_bytes_, cut_.request_bytes, [&](uint64_t at, uint64_t part) {
      from_.read(place * count + at, part, chunk.data.get() + at * record_bytes_);
    });
    if (chunk.number < kept_.size()) kept_[chunk.number] = chunk.data;
    return chunk;
  }

 private:
  const Cut& cut_;
  uint64_t record_bytes_;
  RecordSource& from_;
  bool keep_;
  task::BufferPool& pool_;
  uint64_t next_, end_;
  std::vector<Buffer> kept_;
};

}  // namespace

void whole_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to,
                 const std::stop_token& stop) {
  const uint64_t count = uint64_t{1} << cut.lg_size, record = groups.what().record_bytes();
  const io::BlockMemory array(count * record), other(count * record);
  in_requests(count, record, cut.request_bytes, [&](uint64_t at, uint64_t part) {
    check(stop);
    from.read(at, part, array.data() + at * record);
  });
  groups.what().check();
  check(stop);
  std::byte* const result = groups.all(array.data(), other.data());
  in_requests(count, record, cut.request_bytes, [&](uint64_t at, uint64_t part) {
    check(stop);
    to.write(at, part, result + at * record);
  });
}

void inter_node_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to,
                      const std::stop_token& stop) {
  const Bits bits{cut.lg_block, cut.lg_size};
  const uint64_t width = uint64_t{1} << cut.lg_offsets, block = bits.stride(), rows = cut.processors();
  const uint64_t record = groups.what().record_bytes();
  task::BufferPool pool(rows * width * record);
  // A row, or a part of it, is a request.
  const auto in_rows = [&](const Offsets& tile, const auto& transfer) {
    const uint64_t part = part_of(width, record, cut.request_bytes);
    const uint64_t parts = (width + part - 1) / part;
    task::each(rows * parts, [&](uint64_t i) {
      check(stop);
      const uint64_t row = i / parts, at = i % parts * part;
      transfer(row * block + tile.first + at, std::min(part, width - at),
               tile.data.get() + (row * width + at) * record);
    });
  };
  uint64_t next = 0;
  task::Tokens<Offsets> tokens(cut.tiles_at_once);
  const auto begin = [&](oneapi::tbb::flow_control& flow) -> Offsets* {
    const task::InTask task;
    if (next == block) {
      flow.stop();
      return nullptr;
    }
    next += width;
    return tokens.take({next - width, {}});
  };
  const auto read = [&](Offsets* tile) {
    const task::InTask task;
    tile->data = pool.get();
    in_rows(*tile, [&](auto... range) { from.read(range...); });
    return tile;
  };
  const auto advance = [&](Offsets* tile) {
    const task::InTask task;
    groups.cyclic(bits, tile->data.get(), tile->first, width);
    return tile;
  };
  const auto write = [&](Offsets* tile) {
    const task::InTask task;
    in_rows(*tile, [&](auto... range) { to.write(range...); });
    tokens.give_back(tile);
  };
  const task::AroundTasks around;
  oneapi::tbb::parallel_pipeline(cut.tiles_at_once,
                                 make_filter<void, Offsets*>(filter_mode::serial_in_order, begin) &
                                     make_filter<Offsets*, Offsets*>(filter_mode::parallel, read) &
                                     make_filter<Offsets*, Offsets*>(filter_mode::parallel, advance) &
                                     make_filter<Offsets*, void>(filter_mode::parallel, write));
}

void local_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to, bool in_place,
                 const std::stop_token& stop) {
  const uint64_t count = uint64_t{1} << cut.lg_chunk, record = groups.what().record_bytes();
  task::BufferPool pool(count * record);
  std::deque<Stage> stages;
  uint64_t halo = 0;
  for (const Bits bits : groups_of(cut.lg_block, groups.what().direction(), record, groups.cache_bytes())) {
    halo += stages.emplace_back(groups, cut, bits, pool).halo();
  }
  Reader reader(cut, record, from, halo, in_place, pool);
  task::Tokens<Chunk> tokens(cut.chunks_at_once);
  const auto read = [&](oneapi::tbb::flow_control& flow) -> Chunk* {
    const task::InTask task;
    check(stop);
    std::optional<Chunk> chunk = reader.next();
    if (chunk) return tokens.take(*std::move(chunk));
    flow.stop();
    return nullptr;
  };
  const auto advance = [&](Chunk* chunk) {
    const task::InTask task;
    for (Stage& stage : stages) {
      if (chunk->data) *chunk = stage.push(std::move(*chunk));
    }
    return chunk;
  };
  const auto write = [&](Chunk* chunk) {
    const task::InTask task;
    if (chunk->data) {
      in_requests(count, record, cut.request_bytes, [&](uint64_t at, uint64_t part) {
        check(stop);
        to.write(chunk->number * count + at, part, chunk->data.get() + at * record);
      });
    }
    tokens.give_back(chunk);
  };
  const task::AroundTasks around;
  oneapi::tbb::parallel_pipeline(cut.chunks_at_once,
                                 make_filter<void, Chunk*>(filter_mode::serial_in_order, read) &
                                     make_filter<Chunk*, Chunk*>(filter_mode::serial_in_order, advance) &
                                     make_filter<Chunk*, void>(filter_mode::parallel, write));
}

}  // namespace xorder::descend
