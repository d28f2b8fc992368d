// A stream of steps with several in flight. Each step reads, waits until all steps before it have read,
// permutes and writes.
//
//   step s     read ───▶ (all before s have read) ───▶ permute ───▶ write ───▶ (all before s have ended)
//
// This is for data that passes through a window in order: what step s permutes may have been read by earlier
// steps. Step s starts when step s − lanes has ended, so that its lane, s modulo lanes, is free: a queue, and
// memory that the caller owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/queue/queue.hpp"
#include "task/workers.hpp"
#include "work/run.hpp"

namespace xorder::band {

/// Transfers that are carried out together. Used by one thread at a time.
class Lane {
 public:
  explicit Lane(std::unique_ptr<io::Queue> queue) : queue_(std::move(queue)) {}

  /// Add transfers of at most 1 MiB each. They must have the file's alignments. A read fails unless its first
  /// `required` bytes are in the file.
  void read(const io::File& file, std::uint64_t offset, std::byte* to, std::size_t bytes,
            std::size_t required);
  void write(const io::File& file, std::uint64_t offset, const std::byte* from, std::size_t bytes);
  /// Carries out all transfers that were added, and waits for them. If one fails, no more are started; throws
  /// IoError for the first that failed, when those in flight have ended.
  void complete();

 private:
  void add(io::Transfer::Kind kind, const io::File& file, std::uint64_t offset, std::byte* data,
           std::size_t bytes, std::size_t required);

  std::unique_ptr<io::Queue> queue_;
  std::vector<io::Transfer> transfers_;
  std::vector<io::Completion> done_;
};

/// The steps, count() of them. The other functions are called by many threads, for different steps at once.
class LaneSteps {
 public:
  virtual ~LaneSteps() = default;
  virtual std::uint64_t count() const = 0;
  virtual void read(std::uint64_t step, Lane& lane) = 0;
  virtual void permute(std::uint64_t step) = 0;
  virtual void write(std::uint64_t step, Lane& lane) = 0;
};

/// `lanes` lanes, each with `depth` transfers in flight, and the threads that wait for them.
class Lanes {
 public:
  Lanes(unsigned lanes, unsigned depth, work::Run& run);

  /// Runs all steps, at most `lanes` at once. Throws what a step throws and Cancelled, but only when nothing
  /// is in flight any more. Requires that no run has thrown before.
  void run(LaneSteps& steps, unsigned lanes);

 private:
  work::Run& run_;
  std::vector<Lane> lanes_;
  task::Workers workers_;
};

}  // namespace xorder::band
