#include "work/meter.hpp"

namespace xorder::work {

Meter::Count Meter::count() const { return {reads_, writes_, bytes_read_, bytes_written_}; }

void Meter::restart() { reads_ = writes_ = bytes_read_ = bytes_written_ = 0; }

void Meter::after(const io::Transfer& transfer, const io::Completion& completion, Clock::time_point) {
  if (completion.error != 0) return;
  const bool is_read = transfer.kind == io::Transfer::Kind::read;
  (is_read ? reads_ : writes_).fetch_add(1, std::memory_order_relaxed);
  (is_read ? bytes_read_ : bytes_written_).fetch_add(transfer.bytes(), std::memory_order_relaxed);
}

}  // namespace xorder::work
