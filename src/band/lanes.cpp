#include "band/lanes.hpp"

#include <algorithm>

#include "io/file.hpp"
#include "plan/conditions.hpp"
#include "semaphore.hpp"
#include "task/pipeline.hpp"
#include "task/threads.hpp"

namespace xorder::band {

using plan::largest_request;
using std::uint64_t;

void Lane::add(io::Transfer::Kind kind, const io::File& file, uint64_t offset, std::byte* data,
               std::size_t bytes, std::size_t required) {
  for (std::size_t at = 0; at < bytes; at += largest_request) {
    io::Transfer transfer{.kind = kind, .file = &file, .offset = offset + at};
    transfer.pieces[0] = {data + at, std::min(largest_request, bytes - at)};
    transfer.piece_count = 1;
    transfer.required_bytes = std::min(transfer.pieces[0].bytes, required - std::min(required, at));
    transfers_.push_back(transfer);
  }
}

void Lane::read(const io::File& file, uint64_t offset, std::byte* to, std::size_t bytes,
                std::size_t required) {
  add(io::Transfer::Kind::read, file, offset, to, bytes, required);
}

void Lane::write(const io::File& file, uint64_t offset, const std::byte* from, std::size_t bytes) {
  add(io::Transfer::Kind::write, file, offset, const_cast<std::byte*>(from), bytes, bytes);
}

void Lane::complete() {
  std::size_t submitted = 0, completed = 0;
  const io::Completion* failed = nullptr;
  io::Completion failure;
  while (completed < submitted || (submitted < transfers_.size() && failed == nullptr)) {
    while (submitted < transfers_.size() && submitted - completed < queue_->depth() && failed == nullptr) {
      transfers_[submitted].token = submitted;
      queue_->submit(transfers_[submitted++]);
    }
    done_.clear();
    queue_->wait(done_);
    for (const io::Completion& completion : done_) {
      ++completed;
      if (completion.error != 0 && failed == nullptr) {
        failure = completion;
        failed = &failure;
      }
    }
  }
  if (failed != nullptr) {
    const io::Transfer& transfer = transfers_[failure.token];
    throw transfer.file->failed(transfer.kind, failure);
  }
  transfers_.clear();
}

Lanes::Lanes(unsigned lanes, unsigned depth, work::Run& run) : run_(run), workers_(lanes) {
  for (unsigned i = 0; i < lanes; ++i) lanes_.emplace_back(run.queue(depth));
}

void Lanes::run(LaneSteps& steps, unsigned lanes) {
  const unsigned threads = task::thread_count(run_.frame().options.threads);
  const auto count =
      static_cast<unsigned>(std::clamp<uint64_t>(steps.count(), 1, std::min<uint64_t>(lanes, lanes_.size())));
  Semaphore permuting(std::min(threads, count));
  const std::stop_token stop = run_.stop();
  const auto moved = [&](uint64_t step, auto move) {
    Lane& lane = lanes_[step % count];
    (steps.*move)(step, lane);
    lane.complete();
  };

  // The pipeline's threads mostly wait for transfers.
  const auto pipeline = [&] {
    uint64_t next = 0;
    const auto start = [&]() -> std::optional<uint64_t> {
      if (next == steps.count() || stop.stop_requested()) return std::nullopt;
      return next++;
    };
    const auto read = [&](uint64_t step) { moved(step, &LaneSteps::read); };
    const auto write = [&](uint64_t step) {
      {
        const Turn turn(permuting);
        steps.permute(step);
      }
      moved(step, &LaneSteps::write);
    };
    const auto in_order =
        task::in_order([](uint64_t) {});  // waits for all steps before, to have read and, at the end, to end
    task::pipeline<uint64_t>(count, start, task::at_once(read), in_order, task::at_once(write), in_order);
  };
  try {
    run_.with(workers_, pipeline);
  } catch (...) {
    // If a queue failed, the kernel may still move data to or from the caller's memory. Its destructor waits.
    lanes_.clear();
    throw;
  }
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace xorder::band
