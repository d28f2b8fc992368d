#include "io/measure/measure_disk.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "io/file.hpp"
#include "io/memory.hpp"
#include "io/page_cache/residency.hpp"
#include "plan/setting.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using std::uint64_t;

// Requests in flight in each direction, for plans and for trials. Fewer would do for a trial, which only
// waits for the disk. A pass has other work too: with fewer, it is slower, and more so on a loaded machine.
constexpr unsigned in_flight_each_way = 128;
// Limits of one trial's writes. More would leave so many extents that removing the file takes minutes.
constexpr uint64_t most_writes = 4096;
constexpr uint64_t most_written = uint64_t{512} << 20;
constexpr uint64_t least_bytes = uint64_t{64} << 20;
constexpr double worth_it = 1.05;  // what a larger request must gain to be kept in a profile

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const std::filesystem::path& of_a_disk(const std::filesystem::path& directory) {
  if (only_in_memory(directory)) {
    throw InputError(directory.string() +
                     ": its files are in memory (tmpfs), so there is no disk to measure; "
                     "plans know such files");
  }
  return directory;
}

// A part of a file.
struct Region {
  const File& file;
  uint64_t offset, bytes;
};

// One direction of a trial. It transfers every block of a region once, in a mixed order, each block as one or
// several requests.
class Stream {
 public:
  Stream(Transfer::Kind kind, const Region& region, uint64_t block, unsigned depth, std::byte* memory)
      : kind_(kind),
        file_(region.file),
        offset_(region.offset),
        block_(block),
        request_(std::min(block, plan::largest_request)),
        blocks_(std::bit_floor(region.bytes / block)),
        most_(std::clamp<uint64_t>(plan::most_bytes_in_flight / request_, 1, depth)) {
    for (uint64_t i = 0; i < most_; ++i) free_.push_back(memory + i * request_);
  }

  bool exhausted() const { return next_ == blocks_ * (block_ / request_); }
  bool may_submit() const { return !free_.empty() && !exhausted(); }
  uint64_t in_flight() const { return most_ - free_.size(); }
  uint64_t bytes() const { return bytes_; }
  uint64_t bytes_submitted() const { return next_ * request_; }

  void submit(Queue& queue) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15;  // times this modulo a power of two is a permutation
    const uint64_t parts = block_ / request_, block = next_ / parts * odd % blocks_;
    Transfer transfer{.kind = kind_,
                      .file = &file_,
                      .offset = offset_ + block * block_ + next_ % parts * request_,
                      .required_bytes = request_};
    transfer.pieces[0] = {free_.back(), request_};
    transfer.piece_count = 1;
    transfer.token = in_use_.size() << 1 | static_cast<uint64_t>(kind_ == Transfer::Kind::write);
    in_use_.push_back(free_.back());
    free_.pop_back();
    ++next_;
    queue.submit(transfer);
  }

  void completed(const Completion& done) {
    if (done.error != 0) throw file_.failed(kind_, done);
    free_.push_back(in_use_[done.token >> 1]);
    bytes_ += request_;
  }

 private:
  Transfer::Kind kind_;
  const File& file_;
  uint64_t offset_, block_, request_, blocks_, most_;
  uint64_t next_ = 0, bytes_ = 0;
  std::vector<std::byte*> free_;
  std::vector<std::byte*> in_use_;  // by number of request
};

}  // namespace

class DiskTrials::Trials {
 public:
  Trials(const std::filesystem::path& directory, const Options& options, Disk& disk)
      : directory_(of_a_disk(directory)),
        options_(options),
        disk_(disk),
        kind_(uring_available() ? QueueKind::uring : QueueKind::threads),
        memory_(2 * plan::most_bytes_in_flight),
        source_(new_file(std::bit_floor(std::max(options.file_bytes, least_bytes)))) {
    if (source_.access() != Access::direct) {
      throw InputError(directory.string() +
                       ": the file system refuses direct access, so only memory would be measured");
    }
    // Random data, which no disk or host can compress.
    std::mt19937_64 random(1);
    for (uint64_t at = 0; at < memory_.size(); at += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(memory_.data() + at, &word, sizeof word);
    }
    Stream all(Transfer::Kind::write, whole_source(), plan::largest_request, in_flight_each_way, writing());
    run({nullptr, &all}, std::numeric_limits<double>::infinity());
    source_.sync();
  }

  double reads(uint64_t block, unsigned depth) {
    Stream stream(Transfer::Kind::read, whole_source(), block, depth, reading());
    const double seconds = run({&stream, nullptr});
    return static_cast<double>(stream.bytes()) / seconds;
  }
  double writes(uint64_t block, unsigned depth) {
    const File target = new_target(block);
    Stream stream(Transfer::Kind::write, {target, 0, target.size()}, block, depth, writing());
    const double seconds = run({nullptr, &stream}) + sync_seconds(target);
    return static_cast<double>(stream.bytes()) / seconds;
  }
  double both(uint64_t block, unsigned depth) {
    const File target = new_target(block);
    Stream read(Transfer::Kind::read, whole_source(), block, depth, reading());
    Stream write(Transfer::Kind::write, {target, 0, target.size()}, block, depth, writing());
    const double seconds = run({&read, &write}) + sync_seconds(target);
    return static_cast<double>(read.bytes() + write.bytes()) / 2 / seconds;
  }

 private:
  struct Streams {
    Stream* read;
    Stream* write;
  };

  File new_file(uint64_t bytes) const {
    return File::create_nameless(directory_, "disk trial", bytes, Access::direct, disk_);
  }
  File new_target(uint64_t block) const {
    return new_file(std::min({most_writes * block, most_written, source_.size()}));
  }
  Region whole_source() const { return {source_, 0, source_.size()}; }
  std::byte* reading() const { return memory_.data(); }
  std::byte* writing() const { return memory_.data() + plan::most_bytes_in_flight; }
  static double sync_seconds(const File& file) {
    const auto begin = std::chrono::steady_clock::now();
    file.sync();
    return seconds_since(begin);
  }

  // Runs until the time is over or one stream is exhausted, and all transfers have ended. Returns the
  // seconds. Neither direction gets more than plan::most_bytes_in_flight ahead of the other.
  double run(const Streams& streams, double limit) {
    const auto queue = disk_.queue(kind_, 2 * in_flight_each_way);
    const auto begin = std::chrono::steady_clock::now();
    bool over = false;
    const auto ahead = [](const Stream* one, const Stream* other) {
      return other != nullptr &&
             one->bytes_submitted() > other->bytes_submitted() + plan::most_bytes_in_flight;
    };
    std::vector<Completion> done;
    while (true) {
      over = over || seconds_since(begin) > limit || options_.stop.stop_requested();
      uint64_t waiting = 0;
      for (const auto& [stream, other] :
           {std::pair(streams.read, streams.write), std::pair(streams.write, streams.read)}) {
        if (stream == nullptr) continue;
        over = over || stream->exhausted();
        while (!over && stream->may_submit() && !ahead(stream, other)) stream->submit(*queue);
        waiting += stream->in_flight();
      }
      if (waiting == 0) break;
      done.clear();
      queue->wait(done);
      for (const Completion& each : done) (each.token & 1 ? streams.write : streams.read)->completed(each);
    }
    if (options_.stop.stop_requested()) throw Cancelled();
    return seconds_since(begin);
  }
  double run(const Streams& streams) { return run(streams, options_.seconds); }

  std::filesystem::path directory_;
  const Options options_;
  Disk& disk_;
  QueueKind kind_;
  BlockMemory memory_;
  File source_;
};

std::vector<uint64_t> trial_blocks() {
  std::vector<uint64_t> blocks;
  for (uint64_t block = 4096; block <= 4 << 20; block *= 4) blocks.push_back(block);
  return blocks;
}

std::vector<unsigned> trial_depths() {
  std::vector<unsigned> depths;
  for (unsigned depth = 1; depth <= in_flight_each_way; depth *= 2) depths.push_back(depth);
  return depths;
}

DiskTrials::DiskTrials(const std::filesystem::path& directory, const Options& options, Disk& disk)
    : trials_(std::make_unique<Trials>(directory, options, disk)) {}
DiskTrials::~DiskTrials() = default;
double DiskTrials::reads(uint64_t block, unsigned depth) { return trials_->reads(block, depth); }
double DiskTrials::writes(uint64_t block, unsigned depth) { return trials_->writes(block, depth); }
double DiskTrials::both(uint64_t block, unsigned depth) { return trials_->both(block, depth); }

plan::Device profile_of(std::string name, std::vector<plan::Device::Point> points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    for (double plan::Device::Point::*bandwidth :
         {&plan::Device::Point::read_bytes_per_second, &plan::Device::Point::write_bytes_per_second,
          &plan::Device::Point::both_bytes_per_second}) {
      points[i].*bandwidth = std::max(points[i].*bandwidth, points[i - 1].*bandwidth);
    }
  }
  while (points.size() > 1 &&
         points.back().both_bytes_per_second < points[points.size() - 2].both_bytes_per_second * worth_it) {
    points.pop_back();
  }
  return {std::move(name), std::move(points), in_flight_each_way};
}

}  // namespace xorder::io
