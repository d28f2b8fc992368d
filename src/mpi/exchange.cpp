#include "mpi/exchange.hpp"

#include <array>

#include "memory/micro.hpp"
#include "mpi/must.hpp"
#include "mpi/slices.hpp"

namespace xorder::mpi {
namespace {

using std::uint64_t;

// One tag is enough: nothing else is sent in our communicators, and messages of a pair of ranks arrive in the
// order in which they were sent.
constexpr int tag = 0;

// Goes through the slices of one direction in order.
class Cursor {
 public:
  struct Item {
    uint64_t round = 0;
    int peer = 0;
    Slice slice;
    bool within_piece = false;
  };

  using Direction = Message (RankSchedule::*)(uint64_t) const;
  Cursor(const RankSchedule& schedule, int rank, uint64_t slice_bytes, Direction direction)
      : schedule_(schedule), rank_(rank), slice_bytes_(slice_bytes), direction_(direction) {}

  std::optional<Item> next() {
    for (; round_ < schedule_.rounds(); ++round_, slice_ = 0) {
      const Message message = (schedule_.*direction_)(round_);
      if (message.peer == rank_) continue;
      const Slices slices(message, slice_bytes_);
      if (slice_ < slices.count())
        return Item{round_, message.peer, slices[slice_++], slices.within_pieces()};
    }
    return std::nullopt;
  }

 private:
  const RankSchedule& schedule_;
  int rank_;
  uint64_t slice_bytes_;
  Direction direction_;
  uint64_t round_ = 0, slice_ = 0;
};

}  // namespace

class Exchange::Run {
 public:
  Run(Exchange& exchange, MPI_Comm comm, const std::byte* source, std::byte* target)
      : exchange_(exchange),
        schedule_(*exchange.schedule_),
        comm_(comm),
        source_(source),
        target_(target),
        put_(memory::copy_function(true)),
        to_send_(schedule_, exchange.rank_, exchange.slice_bytes_, &RankSchedule::sent),
        to_receive_(schedule_, exchange.rank_, exchange.slice_bytes_, &RankSchedule::received) {
    requests_.fill(MPI_REQUEST_NULL);
  }

  void operator()() {
    for (int slot = 0; slot < depth; ++slot) receive(slot);
    for (int slot = 0; slot < (exchange_.one_array_ ? depth : offered); ++slot) send(slot);
    if (exchange_.stays_ && !exchange_.one_array_) keep(*exchange_.stays_);
    for (;;) {
      int done = MPI_UNDEFINED;
      must(MPI_Waitany(depth + offered, requests_.data(), &done, MPI_STATUS_IGNORE), "MPI_Waitany");
      if (done == MPI_UNDEFINED) break;
      const int slot = done < depth ? done : done - depth;
      if (!exchange_.one_array_) {
        if (done < depth) {
          deliver(slot);
          receive(slot);
        } else {
          send(slot);
        }
      } else if (++halves_[index(slot)] == 2) {  // what is received takes the place of what was sent
        halves_[index(slot)] = 0;
        deliver(slot);
        receive(slot);
        send(slot);
      }
    }
    memory::finish_streams();
  }

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }

  void receive(int slot) {
    const auto item = to_receive_.next();
    if (!item) return;
    arriving_[index(slot)] = *item;
    must(MPI_Irecv(landing(slot, *item), static_cast<int>(item->slice.bytes), MPI_BYTE, item->peer, tag,
                   comm_, &requests_[index(slot)]),
         "MPI_Irecv");
  }

  void send(int slot) {
    const auto item = to_send_.next();
    if (!item) return;
    must(MPI_Isend(source_ + schedule_.sent_from(item->round) + item->slice.begin,
                   static_cast<int>(item->slice.bytes), MPI_BYTE, item->peer, tag, comm_,
                   &requests_[index(depth + slot)]),
         "MPI_Isend");
    exchange_.sent_.messages += item->slice.begin == 0;
    exchange_.sent_.bytes += item->slice.bytes;
  }

  bool direct(const Cursor::Item& item) const { return item.within_piece && !exchange_.one_array_; }

  std::byte* buffer(int slot) const {
    return exchange_.buffers_->data() + index(slot) * exchange_.buffer_bytes_;
  }
  std::byte* landing(int slot, const Cursor::Item& item) const {
    return direct(item) ? place(item) : buffer(slot);
  }

  // The place of a slice that lies within a piece.
  std::byte* place(const Cursor::Item& item) const {
    const uint64_t piece = schedule_.received(item.round).piece_bytes;
    return target_ + schedule_.place(item.round, item.slice.begin / piece) + item.slice.begin % piece;
  }

  void deliver(int slot) {
    const Cursor::Item& item = arriving_[index(slot)];
    if (direct(item)) return;
    if (item.within_piece) {
      put_(place(item), buffer(slot), item.slice.bytes);
      return;
    }
    const uint64_t piece = schedule_.received(item.round).piece_bytes;
    schedule_.put(item.round, item.slice.begin / piece, item.slice.bytes / piece, buffer(slot), target_);
  }

  void keep(uint64_t round) {
    const Message message = schedule_.received(round);
    schedule_.put(round, 0, message.bytes / message.piece_bytes, source_ + schedule_.sent_from(round),
                  target_);
  }

  Exchange& exchange_;
  const RankSchedule& schedule_;
  MPI_Comm comm_;
  const std::byte* source_;
  std::byte* target_;
  const memory::CopyFunction put_;
  Cursor to_send_, to_receive_;
  std::array<MPI_Request, depth + offered> requests_;  // receives, then sends
  std::array<Cursor::Item, depth> arriving_;
  std::array<int, depth> halves_{};  // by slot: how many of its two slices, received and sent, are done
};

Exchange::Exchange(std::unique_ptr<const RankSchedule> schedule, int rank, uint64_t slice_bytes,
                   bool one_array)
    : schedule_(std::move(schedule)), rank_(rank), slice_bytes_(slice_bytes), one_array_(one_array) {
  for (uint64_t round = 0; round < schedule_->rounds(); ++round) {
    const Message message = schedule_->received(round);
    if (message.bytes == 0) continue;
    if (message.peer == rank) {
      stays_ = round;
      continue;
    }
    const Slices slices(message, slice_bytes);
    if (!slices.within_pieces() || one_array) buffer_bytes_ = std::max(buffer_bytes_, slices.longest());
  }
  if (buffer_bytes_ != 0) buffers_ = std::make_unique<memory::Scratch>(depth * buffer_bytes_);
}

Exchange::~Exchange() = default;

void Exchange::run(MPI_Comm comm, const std::byte* source, std::byte* target) {
  try {
    Run(*this, comm, source, target)();
  } catch (...) {
    buffers_.release();  // MPI may still write to them
    throw;
  }
}

}  // namespace xorder::mpi
