#include "work/relay.hpp"

#include "plan/price.hpp"
#include "work/team.hpp"

namespace xorder::work {

Relay::Relay(Run& run, std::size_t passes) : run_(run), passes_(passes) {
  while (scratch_.size() < plan::scratch_files(passes))
    scratch_.push_back(run.scratch(run.frame().output.bytes));
}

io::Location Relay::source(std::size_t pass) const {
  if (pass == 0) return run_.source();
  return {scratch_[(pass - 1) % scratch_.size()], 0};
}

io::Location Relay::target(std::size_t pass) const {
  if (pass + 1 == passes_) return run_.target();
  return {scratch_[pass % scratch_.size()], 0};
}

void Relay::finish(std::size_t pass) const {
  if (pass + 1 == passes_) return;
  const io::File& file = target(pass).file;
  if (run_.sharing() == nullptr) return file.finish_writing();
  // The next pass reads what all members have written, perhaps on other machines.
  file.sync();
  run_.sharing()->meet();
}

}  // namespace xorder::work
