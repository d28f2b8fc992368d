#include "run/executor.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "plan/setting.hpp"
#include "rounding.hpp"
#include "run/numbers.hpp"
#include "semaphore.hpp"
#include "task/tasks.hpp"
#include "xorder/error.hpp"

namespace xorder::run {
namespace {

using std::size_t;
using std::uint64_t;
using Next = Pass::Next;

// A token tells what has completed: its kind in the low bits, the number of a request, unit or step above.
enum class Event : uint64_t { transferred, decoded, computed, encoded, wake };
uint64_t token(Event event, uint64_t number) { return number << 3 | static_cast<uint64_t>(event); }
Event event_of(uint64_t token) { return static_cast<Event>(token & 7); }
uint64_t number_of(uint64_t token) { return token >> 3; }

// Tasks at once. Queue::post() must not throw.
constexpr size_t most_units = 40, most_computing = 16, most_encoding = 16, most_wakes = 4;
static_assert(most_units + most_computing + most_encoding + most_wakes < io::most_posts);

// Requests in flight in one direction: at most half of the queue's depth, and most_bytes_in_flight.
uint64_t most_in_flight(const io::Queue& queue, uint64_t usual_bytes) {
  const uint64_t request = std::clamp<uint64_t>(usual_bytes, 1, plan::largest_request);
  return std::max<uint64_t>(1, std::min<uint64_t>(queue.depth() / 2, plan::most_bytes_in_flight / request));
}

// Calls a function some 20 times per second, by a thread of its own; not at all if none can start.
class Clock {
 public:
  explicit Clock(std::function<void()> function) : function_(std::move(function)) {
    if (crew_.count() == 0) return;
    crew_.start(0, [this] {
      while (!over_.acquire_within(50'000'000)) function_();
    });
  }
  ~Clock() { over_.release(); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

 private:
  std::function<void()> function_;
  Semaphore over_{0};
  task::Crew crew_{1};  // the last member: it waits for its thread
};

class Conductor {
 public:
  Conductor(Pass& pass, io::Carry& carry, io::Queue& queue, const Environment& environment)
      : pass_(pass),
        rules_(pass.rules()),
        queue_(queue),
        environment_(environment),
        tasks_(environment.workers),
        carry_(carry),
        most_reads_(most_in_flight(queue, rules_.read_bytes)),
        most_writes_(most_in_flight(queue, rules_.write_bytes)),
        units_(most_units),
        free_units_(most_units),
        writes_(most_writes_ + 1 + (rules_.encodes ? most_encoding : 0)),
        free_writes_(writes_.size()),
        requests_(most_reads_ + most_writes_),
        free_requests_(most_reads_ + most_writes_) {}

  void run() {
    const std::stop_callback wake_up(environment_.stop, [this] { queue_.post(token(Event::wake, 0)); });
    const Clock clock([this] {
      if (!woken_.exchange(true)) queue_.post(token(Event::wake, 0));
    });
    std::vector<io::Completion> done;
    while (!finished()) {
      const uint64_t before = progress_;
      guarded([&] {
        pump_reads();
        pump_computing();
        pump_encoding();
        pump_writes();
      });
      if (in_flight() == 0) {
        if (!failure_ && progress_ > before) continue;  // all that was to be written went to the carry
        if (!failure_) failure_ = std::make_exception_ptr(Error("internal error: a step exceeds its memory"));
        break;
      }
      done.clear();
      wait(done);
      for (const io::Completion& completion : done) handle(completion);
      if (environment_.stop.stop_requested() && !failure_) failure_ = std::make_exception_ptr(Cancelled());
      // If the caller's function throws, the pass ends as after a failed transfer.
      keep_failure([&] { environment_.tick(); });
    }
    tasks_.wait();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // A unit in flight.
  struct UnitState {
    Unit unit;
    uint64_t step = 0;  // its number here
    uint64_t reads_in_flight = 0;
    std::exception_ptr failure;  // thrown while decoding it
  };
  struct StepState {
    uint64_t name = 0;           // what the pass calls it
    uint64_t units_missing = 0;  // of those that have begun
    bool begun = false;          // all its units have
    bool read = false;           // and are decoded
    uint64_t writes_in_flight = 0;
    bool submitted = false;  // all its writes
    std::exception_ptr failure;
  };
  struct WriteState {
    uint64_t step = 0;
    Write write;
    uint64_t requests_in_flight = 0;
    std::exception_ptr failure;  // thrown while encoding it
  };
  struct Request {
    io::Transfer::Kind kind;
    const io::File* file;
    size_t number;  // of the unit or the write
  };
  // Whole blocks that are transferred by one request after the other.
  struct Blocks {
    const io::File* file = nullptr;
    uint64_t next = 0, end = 0;
    std::byte* data = nullptr;  // of `next`
    uint64_t required_end = 0;  // up to here the file must have them
  };

  // Other transfers still use the memory after something has thrown. So the first exception is kept until
  // they have ended.
  template <typename Function>
  void keep_failure(const Function& function) {
    try {
      function();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  template <typename Function>
  void guarded(const Function& function) {
    if (!failure_) keep_failure(function);
  }

  // If the queue's wait() fails, the memory stays: transfers may still access it.
  void wait(std::vector<io::Completion>& done) {
    try {
      queue_.wait(done);
    } catch (...) {
      tasks_.wait();
      environment_.memory.abandon();
      throw;
    }
  }

  bool finished() const { return no_more_units_ && steps_.empty() && in_flight() == 0; }
  uint64_t in_flight() const {
    return reads_in_flight_ + writes_in_flight_ + decoding_ + computing_ + encoding_;
  }
  StepState& step(uint64_t number) { return steps_[number - first_step_]; }

  // --- reading: unit by unit, range by range, request by request

  void pump_reads() {
    while (reads_in_flight_ < most_reads_) {
      if (!reading_ && !begin_unit()) return;
      submit_next_read();
    }
  }

  bool begin_unit() {
    if (no_more_units_ || free_units_.available() == 0) return false;
    const uint64_t next = next_step_begun_ ? first_step_ + steps_.size() - 1 : first_step_ + steps_.size();
    if (!next_step_begun_ && next - first_step_ >= rules_.most_steps) return false;
    const size_t number = free_units_.take();
    UnitState& state = units_[number];
    state.unit.reads.clear();
    state.unit.last = true;
    switch (pass_.next_unit(state.unit)) {
      case Next::end:
        no_more_units_ = true;
        ++progress_;
        [[fallthrough]];
      case Next::later:
        free_units_.give_back(number);
        return false;
      case Next::ready:
        break;
    }
    if (!next_step_begun_) steps_.emplace_back();
    next_step_begun_ = !state.unit.last;
    StepState& of = steps_.back();
    of.name = state.unit.step;
    ++of.units_missing;
    of.begun = state.unit.last;
    state.reads_in_flight = 1;  // extra count, released when all reads are submitted
    state.step = next;
    reading_ = number;
    next_range_ = 0;
    blocks_ = {};
    return true;
  }

  // Submits a request of the unit that is being read, or ends it.
  void submit_next_read() {
    const size_t number = *reading_;
    UnitState& state = units_[number];
    const std::vector<Range>& ranges = state.unit.reads;
    while (blocks_.next == blocks_.end && next_range_ < ranges.size()) {
      const Range& range = ranges[next_range_++];
      if (range.bytes == 0) continue;
      const uint64_t end = range.offset + range.bytes;
      const uint64_t first = round_down(range.offset, rules_.read_alignment);
      blocks_ = {range.file, first, round_up(end, rules_.read_alignment), range.data - (range.offset - first),
                 end};
    }
    if (blocks_.next < blocks_.end) {
      submit(io::Transfer::Kind::read, blocks_, number);
      ++state.reads_in_flight;
      ++reads_in_flight_;
    }
    if (blocks_.next == blocks_.end && next_range_ == ranges.size()) {
      reading_.reset();
      read_finished(number);
    }
  }

  void submit(io::Transfer::Kind kind, Blocks& blocks, size_t number) {
    const uint64_t bytes = std::min(plan::largest_request, blocks.end - blocks.next);
    const size_t request = free_requests_.take();
    requests_[request] = {kind, blocks.file, number};
    io::Transfer transfer;
    transfer.kind = kind;
    transfer.file = blocks.file;
    transfer.offset = blocks.next;
    transfer.pieces[0] = {blocks.data, bytes};
    transfer.piece_count = 1;
    transfer.required_bytes = std::min(bytes, blocks.required_end - blocks.next);
    transfer.token = token(Event::transferred, request);
    queue_.submit(transfer);
    blocks.next += bytes;
    blocks.data += bytes;
  }

  // --- decoding, computing and encoding

  template <typename Function>
  void start(Event event, uint64_t number, std::exception_ptr& failure, const Function& function) {
    tasks_.start([this, event, number, &failure, function] {
      try {
        function();
      } catch (...) {
        failure = std::current_exception();
      }
      queue_.post(token(event, number));
    });
  }

  void read_finished(size_t number) {
    UnitState& state = units_[number];
    if (--state.reads_in_flight > 0 || failure_) return;
    if (!rules_.decodes) return decoded(number);
    ++decoding_;
    start(Event::decoded, number, state.failure, [this, &state] { pass_.decode(state.unit); });
  }

  void decoded(size_t number) {
    UnitState& state = units_[number];
    if (state.failure) std::rethrow_exception(state.failure);
    pass_.decoded(state.unit);
    const uint64_t of = state.step;
    free_units_.give_back(number);
    ++progress_;
    StepState& state_of_step = step(of);
    if (--state_of_step.units_missing > 0 || !state_of_step.begun) return;
    state_of_step.read = true;
    if (rules_.compute == Rules::Compute::none) writable_.push_back(of);
  }

  void pump_computing() {
    if (rules_.compute == Rules::Compute::none) return;
    const size_t most = rules_.compute == Rules::Compute::one_by_one ? 1 : most_computing;
    while (computing_ < most && next_to_compute_ < first_step_ + steps_.size() &&
           step(next_to_compute_).read) {
      const uint64_t number = next_to_compute_++;
      ++computing_;
      start(Event::computed, number, step(number).failure,
            [this, name = step(number).name] { pass_.compute(name); });
    }
  }

  void computed(uint64_t number) {
    if (step(number).failure) std::rethrow_exception(step(number).failure);
    writable_.push_back(number);
  }

  void encoded(size_t number) {
    if (writes_[number].failure) std::rethrow_exception(writes_[number].failure);
    encoded_.push_back(number);
  }

  // As far ahead as the pass has memory.
  void pump_encoding() {
    while (rules_.encodes && encoding_ < most_encoding) {
      const std::optional<size_t> number = next_write();
      if (!number) return;
      ++encoding_;
      WriteState& state = writes_[*number];
      start(Event::encoded, *number, state.failure, [this, &state] { pass_.encode(state.write); });
    }
  }

  // --- writing: step by step, range by range, request by request

  void pump_writes() {
    while (writes_in_flight_ < most_writes_) {
      if (!writing_ && !begin_write()) return;
      WriteState& state = writes_[*writing_];
      submit(io::Transfer::Kind::write, written_blocks_, *writing_);
      ++state.requests_in_flight;
      ++writes_in_flight_;
      if (written_blocks_.next < written_blocks_.end) continue;
      write_finished(*std::exchange(writing_, std::nullopt));
    }
  }

  bool begin_write() {
    for (;;) {
      if (!rules_.encodes) {
        writing_ = next_write();
      } else if (!encoded_.empty()) {
        writing_ = encoded_.front();
        encoded_.pop_front();
      }
      if (!writing_) return false;
      if (take_blocks(writes_[*writing_].write.range)) return true;
      write_finished(*std::exchange(writing_, std::nullopt));
    }
  }

  // What the pass writes next, if it is ready.
  std::optional<size_t> next_write() {
    while (!writable_.empty() && free_writes_.available() > 0) {
      const uint64_t number = writable_.front();
      const size_t slot = free_writes_.take();
      WriteState& state = writes_[slot];
      const Next next = pass_.next_write(step(number).name, state.write);
      if (next == Next::ready) {
        ++progress_;
        state.step = number;
        state.requests_in_flight = 1;  // extra count, released when all requests are submitted
        ++step(number).writes_in_flight;
        return slot;
      }
      free_writes_.give_back(slot);
      if (next == Next::later) return std::nullopt;
      writable_.pop_front();
      step(number).submitted = true;
      end_steps();
    }
    return std::nullopt;
  }

  // Gives the parts of blocks at the ends to the carry. Returns whether whole blocks are left to be written.
  bool take_blocks(const Range& range) {
    if (range.bytes == 0) return false;
    const uint64_t block = rules_.write_alignment, from = range.offset, to = from + range.bytes;
    const uint64_t begin = round_down(from, block), first_end = begin + block;
    uint64_t first = begin, last = round_up(to, block);
    std::byte* const data = range.data - (from - begin);
    const uint64_t last_block = last - block;
    const bool single = last_block == first;
    const bool first_partial = from > first || to < first_end;
    const bool last_partial = !single && to < last;
    if (last_partial && !carry_.add(*range.file, last_block, to, data + (last_block - begin)))
      last = last_block;
    if (first_partial && !carry_.add(*range.file, from, std::min(to, first_end), data)) first = first_end;
    written_blocks_ = {range.file, first, last, data + (first - begin), last};
    return first < last;
  }

  void write_finished(size_t slot) {
    WriteState& state = writes_[slot];
    if (--state.requests_in_flight > 0) return;
    pass_.written(state.write);
    ++progress_;
    --step(state.step).writes_in_flight;
    free_writes_.give_back(slot);
    end_steps();
  }

  void end_steps() {
    while (!steps_.empty() && steps_.front().submitted && steps_.front().writes_in_flight == 0) {
      steps_.pop_front();
      ++first_step_;
      ++progress_;
    }
  }

  // --- completions

  void handle(const io::Completion& completion) {
    const uint64_t number = number_of(completion.token);
    keep_failure([&] {
      switch (event_of(completion.token)) {
        case Event::transferred:
          return transferred(number, completion);
        case Event::decoded:
          --decoding_;
          return decoded(number);
        case Event::computed:
          --computing_;
          return computed(number);
        case Event::encoded:
          --encoding_;
          return encoded(number);
        case Event::wake:
          woken_ = false;
          return;
      }
    });
  }

  void transferred(size_t number, const io::Completion& completion) {
    const Request request = requests_[number];
    free_requests_.give_back(number);
    const bool reads = request.kind == io::Transfer::Kind::read;
    --(reads ? reads_in_flight_ : writes_in_flight_);
    if (completion.error != 0 && !failure_)
      failure_ = std::make_exception_ptr(request.file->failed(request.kind, completion));
    reads ? read_finished(request.number) : write_finished(request.number);
  }

  Pass& pass_;
  const Rules& rules_;
  io::Queue& queue_;
  const Environment& environment_;
  task::Tasks tasks_;
  io::Carry& carry_;
  uint64_t most_reads_, most_writes_;  // in flight

  std::vector<UnitState> units_;
  Numbers free_units_;
  std::vector<WriteState> writes_;
  Numbers free_writes_;
  std::vector<Request> requests_;
  Numbers free_requests_;

  std::deque<StepState> steps_;   // that have begun and not ended, or wait for those before them
  uint64_t first_step_ = 0;       // the number of the first of them
  bool next_step_begun_ = false;  // the last of them has more units to come
  bool no_more_units_ = false;
  uint64_t next_to_compute_ = 0;
  std::deque<uint64_t> writable_;  // steps
  std::deque<size_t> encoded_;     // writes that can be submitted

  std::optional<size_t> reading_;  // the unit whose ranges are being read
  size_t next_range_ = 0;
  Blocks blocks_;                  // of the range before
  std::optional<size_t> writing_;  // the write whose requests are being submitted
  Blocks written_blocks_;

  uint64_t reads_in_flight_ = 0, writes_in_flight_ = 0, decoding_ = 0, computing_ = 0, encoding_ = 0;
  std::atomic<bool> woken_ = false;  // by the clock
  uint64_t progress_ = 0;            // changes with whatever lets the pass go on
  std::exception_ptr failure_;
};

}  // namespace

void execute(Pass& pass, io::Carry& carry, io::Queue& queue, const Environment& environment) {
  Conductor(pass, carry, queue, environment).run();
}

}  // namespace xorder::run
