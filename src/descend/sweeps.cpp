#include "descend/sweeps.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "task/pipeline.hpp"
#include "xorder/error.hpp"

namespace xorder::descend {
namespace {

using plan::Sweep;
using plan::SweepPlan;
using std::uint64_t;
using Buffer = task::BufferPool::Buffer;

// The source and the target of a sweep, which both kinds of sweeps use.
struct Files {
  void read(const Strip& strip, uint64_t place, uint64_t count, std::byte* to) const {
    in_requests(strip, place, count, record, request, [&](uint64_t index, uint64_t part, uint64_t at) {
      check_stop();
      source.read(index, part, to + at);
    });
  }
  void write(const Strip& strip, uint64_t place, uint64_t count, std::byte* from) const {
    in_requests(strip, place, count, record, request, [&](uint64_t index, uint64_t part, uint64_t at) {
      check_stop();
      target.write(index, part, from + at);
    });
  }
  void check_stop() const {
    if (stop.stop_requested()) throw Cancelled();
  }

  RecordSource& source;
  RecordSink& target;
  uint64_t record, request;
  const std::stop_token& stop;
};

// Reads a whole strip at a time, several strips at once.
class Gathered {
 public:
  Gathered(const Sweep& sweep, Groups& groups, const Files& files, WholeStrips* strips)
      : sweep_(sweep),
        groups_(groups),
        files_(files),
        strips_(strips),
        bytes_(files.record << sweep.lg_slice) {}

  void run() {
    struct OnItsWay {
      Strip strip;
      Buffer data;
    };
    task::BufferPool pool((sweep_.two_buffers ? 2 : 1) * bytes_);
    task::Tokens<OnItsWay> tokens(sweep_.in_flight);
    const uint64_t columns = sweep_.iterations.stride(), count = uint64_t{1} << sweep_.lg_slice;
    uint64_t next = 0;
    const auto begin = [&]() -> std::optional<OnItsWay*> {
      if (next == columns) return std::nullopt;
      const Strip strip{sweep_.iterations.low, sweep_.lg_columns, next};
      next += strip.columns();
      return tokens.take({strip, {}});
    };
    const auto read = [&](OnItsWay* one) {
      one->data = pool.get();
      files_.read(one->strip, 0, count, one->data.get());
    };
    const auto advance = [&](OnItsWay* one) {
      std::byte* const data = one->data.get();
      const std::byte* const result = groups_.all(one->strip, sweep_.groups, data, data + bytes_);
      one->data = Buffer(one->data, data + (result - data));
    };
    const auto write = [&](OnItsWay* one) {
      files_.write(one->strip, 0, count, one->data.get());
      tokens.give_back(one);
    };
    const auto by_strips = [&](OnItsWay* one) { strips_->compute(one->strip, one->data.get()); };
    const auto through = [&](const auto& computing) {
      task::pipeline<OnItsWay*>(sweep_.in_flight, begin, task::at_once(read), computing,
                                task::at_once(write));
    };
    if (strips_ != nullptr) return through(task::in_order(by_strips));
    through(task::at_once(advance));
  }

 private:
  const Sweep& sweep_;
  Groups& groups_;
  const Files& files_;
  WholeStrips* strips_;
  uint64_t bytes_;
};

// Some rows of a strip.
struct Slice {
  uint64_t number = 0;  // mod 2^64: slices before the first one have numbers below 0
  Buffer data;          // empty if there is no slice
};

// The slices made by the group before that one group needs.
class Window {
 public:
  Window(Groups& groups, const Sweep& sweep, const Strip& strip, Iterations group, task::BufferPool& pool)
      : groups_(groups),
        strip_(strip),
        lg_slice_(sweep.lg_slice),
        group_(group),
        halo_(sweep.halo_slices(group)),
        pool_(pool) {}

  /// Takes the next slice. Returns the group's result for the slice `halo` before it, or nothing at the
  /// beginning.
  Slice push(Slice slice) {
    slices_.push_back(std::move(slice));
    if (slices_.size() <= 2 * halo_) return {};
    Pieces from{.pieces = {}, .lg_piece = lg_slice_, .first = slices_.front().number << lg_slice_};
    for (const Slice& one : slices_) from.pieces.push_back(one.data.get());
    Slice made{slices_[halo_].number, pool_.get()};
    groups_.with_halo(strip_, group_, from, made.number << lg_slice_, uint64_t{1} << lg_slice_,
                      made.data.get());
    slices_.pop_front();
    return made;
  }

 private:
  Groups& groups_;
  Strip strip_;
  int lg_slice_;
  Iterations group_;
  uint64_t halo_;
  task::BufferPool& pool_;
  std::deque<Slice> slices_;
};

// Reads the slices of a strip in order. It begins and ends with slices from the other end of the strip.
class Reader {
 public:
  Reader(const Sweep& sweep, const Files& files, const Strip& strip, uint64_t slices, task::BufferPool& pool)
      : files_(files),
        strip_(strip),
        lg_slice_(sweep.lg_slice),
        slices_(slices),
        pool_(pool),
        next_(-sweep.halo_slices()),
        end_(slices + sweep.halo_slices()) {
    if (sweep.in_place) kept_.resize(std::min(sweep.halo_slices(), slices));
  }

  std::optional<Slice> next() {
    if (next_ == end_) return std::nullopt;
    Slice slice{next_++, {}};
    const uint64_t place = slice.number & (slices_ - 1);
    const bool again = static_cast<std::int64_t>(slice.number) >= static_cast<std::int64_t>(slices_);
    if (again && !kept_.empty()) {
      slice.data = kept_[place];
      return slice;
    }
    slice.data = pool_.get();
    files_.read(strip_, place << lg_slice_, uint64_t{1} << lg_slice_, slice.data.get());
    if (slice.number < kept_.size()) kept_[slice.number] = slice.data;
    return slice;
  }

 private:
  const Files& files_;
  Strip strip_;
  int lg_slice_;
  uint64_t slices_;
  task::BufferPool& pool_;
  uint64_t next_, end_;
  std::vector<Buffer> kept_;
};

void stream(const Sweep& sweep, const Strip& strip, uint64_t slices, Groups& groups, const Files& files,
            task::BufferPool& pool) {
  std::deque<Window> windows;
  for (const Iterations group : sweep.groups) windows.emplace_back(groups, sweep, strip, group, pool);
  Reader reader(sweep, files, strip, slices, pool);
  task::Tokens<Slice> tokens(sweep.in_flight);
  const auto read = [&]() -> std::optional<Slice*> {
    files.check_stop();
    std::optional<Slice> slice = reader.next();
    if (!slice) return std::nullopt;
    return tokens.take(*std::move(slice));
  };
  const auto advance = [&](Slice* slice) {
    for (Window& window : windows) {
      if (slice->data) *slice = window.push(std::move(*slice));
    }
  };
  const auto write = [&](Slice* slice) {
    if (slice->data)
      files.write(strip, slice->number << sweep.lg_slice, uint64_t{1} << sweep.lg_slice, slice->data.get());
    tokens.give_back(slice);
  };
  task::pipeline<Slice*>(sweep.in_flight, read, task::in_order(advance), task::at_once(write));
}

}  // namespace

void perform(const SweepPlan& plan, const Sweep& sweep, Groups& groups, RecordSource& from, RecordSink& to,
             const std::stop_token& stop, WholeStrips* strips) {
  const Files files{from, to, groups.record_bytes(), plan.request_bytes, stop};
  if (sweep.gathered) return Gathered(sweep, groups, files, strips).run();
  task::BufferPool pool(files.record << sweep.lg_slice);
  const Strip first{sweep.iterations.low, sweep.lg_columns, 0};
  const uint64_t slices = uint64_t{1} << (plan.task.lg_size - first.lg_less() - sweep.lg_slice);
  for (uint64_t column = 0; column < sweep.iterations.stride(); column += first.columns())
    stream(sweep, {first.low, first.lg_columns, column}, slices, groups, files, pool);
}

}  // namespace xorder::descend
