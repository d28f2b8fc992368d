// What a rank does in one permutation of distributed data, with the memory for the exchange allocated.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpi/plan.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::mpi {

class Prepared {
 public:
  /// Arguments and requirements are those of Plan::steps(). The plan must outlive this object.
  Prepared(const Plan& plan, int rank, std::uint64_t element_bytes, std::uint64_t slice_bytes)
      : steps_(plan.steps(rank, element_bytes, slice_bytes)) {
    if (steps_.before) before_.emplace(*steps_.before);
    if (steps_.after) after_.emplace(*steps_.after);
  }

  /// Permutes this rank's elements before they are sent; `data` stays as it is. `data` and `temp` are those
  /// of xorder_mpi_perform(). May throw std::bad_alloc, so the ranks agree to send only after this.
  void permute_before(const std::byte* data, std::byte* temp, unsigned threads) {
    if (before_) before_->execute(data, temp, threads);
  }
  /// All ranks call this, after permute_before() with the same memory. Throws as Transfer::run() does, and
  /// may throw std::bad_alloc when all elements have arrived: the threads' buffers are allocated then.
  void run(MPI_Comm comm, std::byte* data, std::byte* temp, unsigned threads) {
    steps_.transfer->run(comm, temp, after_ ? temp : data);
    if (after_) after_->execute(temp, data, threads);
  }
  const Transfer::Sent& sent() const { return steps_.transfer->sent(); }

 private:
  Steps steps_;
  std::optional<memory::InMemoryPlan> before_, after_;
};

}  // namespace xorder::mpi
