#include "mpi/weave.hpp"

#include <algorithm>

#include "mpi/must.hpp"

namespace xorder::mpi {

using std::uint64_t;

Weave::Weave(std::unique_ptr<const Course> course, int rank, uint64_t group_pieces)
    : course_(std::move(course)), rank_(rank), group_pieces_(group_pieces) {
  for (uint64_t round = 0; round < course_->rounds(); ++round) {
    for (const Message& message : {course_->received(round), course_->sent(round)}) {
      const uint64_t pieces = message.bytes / message.piece_bytes;
      groups_ = std::max(groups_, (pieces + group_pieces_ - 1) / group_pieces_);
    }
    offsets_.push_back(group_bytes_);
    if (course_->received(round).peer != rank_)
      group_bytes_ += group_pieces_ * course_->received(round).piece_bytes;
  }
  buffers_ = std::make_unique<memory::Scratch>(depth * group_bytes_);
  for (auto& requests : requests_) requests.reserve(2 * course_->rounds());
}

Weave::~Weave() = default;

Weave::Range Weave::in_group(const Message& message, uint64_t group) const {
  const uint64_t pieces = message.bytes / message.piece_bytes,
                 first = std::min(pieces, group * group_pieces_);
  return {first, std::min(group_pieces_, pieces - first)};
}

void Weave::start(MPI_Comm comm, uint64_t group, const std::byte* source) {
  const auto add = [&]() -> MPI_Request* { return &requests(group).emplace_back(MPI_REQUEST_NULL); };
  requests(group).clear();
  for (uint64_t round = 0; round < course_->rounds(); ++round) {
    const Message in = course_->received(round), out = course_->sent(round);
    if (in.peer == rank_) continue;  // and so is out's
    const Range arriving = in_group(in, group), leaving = in_group(out, group);
    if (arriving.count != 0) {
      must(MPI_Irecv(landing(group, round), static_cast<int>(arriving.count * in.piece_bytes), MPI_BYTE,
                     in.peer, 0, comm, add()),
           "MPI_Irecv");
    }
    if (leaving.count != 0) {
      must(MPI_Isend(source + course_->sent_from(round) + leaving.first * out.piece_bytes,
                     static_cast<int>(leaving.count * out.piece_bytes), MPI_BYTE, out.peer, 0, comm, add()),
           "MPI_Isend");
      sent_.messages += group == 0;
      sent_.bytes += leaving.count * out.piece_bytes;
    }
  }
}

void Weave::finish(uint64_t group, const std::byte* source, std::byte* target) {
  must(MPI_Waitall(static_cast<int>(requests(group).size()), requests(group).data(), MPI_STATUSES_IGNORE),
       "MPI_Waitall");
  for (uint64_t round = 0; round < course_->rounds(); ++round) {
    const Message in = course_->received(round);
    const Range pieces = in_group(in, group);
    if (pieces.count == 0) continue;
    const std::byte* const from = in.peer == rank_
                                      ? source + course_->sent_from(round) + pieces.first * in.piece_bytes
                                      : landing(group, round);
    course_->put(round, pieces.first, pieces.count, from, target);
  }
}

void Weave::run(MPI_Comm comm, const std::byte* source, std::byte* target) {
  try {
    uint64_t next = 0;
    for (uint64_t group = 0; group < groups_; ++group) {
      for (; next < std::min(groups_, group + depth); ++next) start(comm, next, source);
      finish(group, source, target);
    }
  } catch (...) {
    buffers_.release();  // MPI may still write to them
    throw;
  }
}

}  // namespace xorder::mpi
