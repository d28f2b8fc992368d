#include "work/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "io/disk.hpp"
#include "io/memory.hpp"
#include "text/reason.hpp"
#include "work/notes.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// A kernel that forbids it gives EPERM, and so do most filters.
std::string how_to_allow(int uring_error) {
  if (uring_error != EPERM && uring_error != ENOSYS) return {};
  std::ifstream setting("/proc/sys/kernel/io_uring_disabled");
  if (int disabled = 0; setting >> disabled && disabled != 0)
    return fmt::format("; sysctl kernel.io_uring_disabled is {}, and 0 allows it", disabled);
  return "; in a container a seccomp profile with io_uring_setup, io_uring_enter and io_uring_register "
         "allows "
         "it, and so does docker run --security-opt seccomp=unconfined";
}

}  // namespace

Run::Run(const Frame& frame, const Summary& plan, const ProgressCallback& progress, std::stop_token stop)
    : frame_(frame),
      stopping_(std::move(stop)),
      meter_(frame.disk()),
      delivery_(frame, meter_),
      callback_(progress),
      queue_(name(frame.access.mapped() ? io::QueueKind::mapped : io::QueueKind::threads)) {
  delivery_.require_room_for_scratch(plan.scratch_bytes);
  meter_.restart();  // the header is not data
  progress_.passes = plan.passes.size();
  progress_.bytes_total = plan.bytes_read + plan.bytes_written;
  if (team() != nullptr) team()->when_idle([this] { tick(); });
}

Run::~Run() {
  if (stop().stop_requested()) delivery_.keep_begun();
  if (team() != nullptr) team()->when_idle({});
}

io::Location Run::source(std::size_t input) const {
  return {delivery_.source(input), frame_.inputs[input].description.begin()};
}

std::vector<io::Location> Run::sources() const {
  std::vector<io::Location> all;
  for (std::size_t i = 0; i < frame_.inputs.size(); ++i) {
    if (frame_.inputs[i].description.elements() > 0) all.push_back(source(i));
  }
  return all;
}

io::Location Run::source_at(std::uint64_t at) const {
  std::size_t input = 0;
  for (; at >= frame_.inputs[input].description.bytes(); ++input)
    at -= frame_.inputs[input].description.bytes();
  const io::Location begin = source(input);
  return {begin.file, begin.offset + at};
}

io::Location Run::target() { return {delivery_.target(), delivery_.target_offset()}; }

std::unique_ptr<io::Queue> Run::queue(unsigned depth) {
  const io::QueueKind kind = queue_for(delivery_.source(), delivery_.target());
  auto queue = meter_.queue(kind, depth);
  queue_ = name(kind);
  if (kind == io::QueueKind::threads && delivery_.target().access() == io::Access::direct) {
    say(fmt::format("io_uring cannot be used here ({}); using a pool of threads{}", reason(io::uring_error()),
                    how_to_allow(io::uring_error())));
  }
  return queue;
}

void Run::begin(std::uint64_t bytes, std::size_t pass, std::uint64_t done) {
  before_ += part_;
  part_ = bytes;
  moved_before_ = meter_.count().bytes() - done;  // modulo 2^64
  progress_.pass = pass;
}

// Reads of whole blocks can move more bytes than the part has, hence the min().
std::uint64_t Run::bytes_done() const {
  return before_ + std::min(meter_.count().bytes() - moved_before_, part_);
}

void Run::begin_resumable(const std::string& plan) {
  Journal& journal = *frame_.journal;
  if (!journal.plan.empty() && journal.plan != plan)
    throw InputError(
        fmt::format("{}: an earlier run is not finished, but this version of xorder plans otherwise; "
                    "`xorder discard {}` removes it",
                    frame_.output.path.string(), frame_.output.path.string()));
  journal.plan = plan;
  reached_pass_ = journal.pass;
  reached_steps_ = journal.steps;
  if (journal.has_progress())
    say(fmt::format("went on after {} of {} bytes that earlier runs had read and written", journal.bytes_done,
                    journal.bytes_total));
  checkpoint(reached_pass_, reached_steps_, target().file);
}

void Run::perform(const Steps& pass, const io::File& target, const Perform& perform) {
  constexpr double seconds = 10;  // of a part
  if (!resumable() || within_step_) {
    begin(pass.bytes, pass.pass + 1);
    return perform(0, pass.count);
  }
  std::uint64_t done = pass.pass < reached_pass_    ? pass.count
                       : pass.pass == reached_pass_ ? std::min(reached_steps_, pass.count)
                                                    : 0;
  const std::uint64_t count = std::max<std::uint64_t>(pass.count, 1);
  begin(pass.bytes, pass.pass + 1, pass.bytes / count * done);
  const double predicted =
      std::max(pass.seconds, static_cast<double>(pass.bytes) / frame_.disk().rate_limit());
  const double steps = seconds / std::max(predicted / static_cast<double>(count), 1e-9);
  const std::uint64_t part = std::max(pass.least_part, static_cast<std::uint64_t>(std::min(steps, 1e15)));
  while (done < pass.count) {
    const std::uint64_t end = pass.count - done < 2 * part ? pass.count : done + part;
    within_step_ = true;
    perform(done, end);
    within_step_ = false;
    done = end;
    const bool last = done == pass.count;
    if (!last || pass.pass + 1 < progress_.passes)
      checkpoint(last ? pass.pass + 1 : pass.pass, last ? 0 : done, target);
  }
}

void Run::checkpoint(std::size_t pass, std::uint64_t steps, const io::File& file) {
  Journal& journal = *frame_.journal;
  journal.bytes_done = bytes_done();
  journal.bytes_total = progress_.bytes_total;
  journal.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  delivery_.checkpoint(pass, steps, file);
}

void Run::tick() {
  std::uint64_t done = bytes_done();
  if (team() != nullptr) {
    done = team()->progress(done);
    if (team()->stopping()) stopping_.request();
  }
  progress_.bytes_done = std::min(done, progress_.bytes_total);
  if (callback_) callback_(progress_);
}

void Run::say(const std::string& note) { add_note(note_, note); }

void Run::with(task::Workers& workers, const std::function<void()>& body,
               const std::function<void()>& meanwhile) {
  say(workers.note());
  workers.run(
      body, [this] { tick(); }, stopping_, meanwhile);
}

Report Run::finish() {
  delivery_.commit(stop());
  progress_.bytes_done = progress_.bytes_total;
  progress_.pass = std::max<std::size_t>(progress_.passes, 1);
  if (callback_) callback_(progress_);
  Meter::Count count = meter_.count();
  std::uint64_t peak_memory = io::peak_resident_memory();
  if (team() != nullptr) {
    const auto sums = team()->sums({count.reads, count.writes, count.bytes_read, count.bytes_written});
    count = {sums[0], sums[1], sums[2], sums[3]};
    peak_memory = team()->most(peak_memory);
  }
  Report report{.passes = progress_.passes,
                .queue = queue_,
                .access = name(delivery_.target().access()),
                .note = fallback_note(delivery_.source(), delivery_.target(), frame_.access),
                .bytes_read = count.bytes_read,
                .bytes_written = count.bytes_written,
                .reads = count.reads,
                .writes = count.writes,
                .seconds = 0,
                .peak_memory = peak_memory};
  add_note(report.note, note_);
  return report;
}

}  // namespace xorder::work
