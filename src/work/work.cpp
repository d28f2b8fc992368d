#include "xorder/work/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "byte_units.hpp"
#include "io/create.hpp"
#include "io/memory.hpp"
#include "plan/price.hpp"
#include "text/size_text.hpp"
#include "work/notes.hpp"
#include "work/resuming.hpp"
#include "work/run.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::work {

std::uint64_t effective_memory(std::uint64_t asked, unsigned processes, std::uint64_t output_bytes) {
  constexpr std::uint64_t program = 40 * MiB;  // see Options::memory
  const auto left = [&](std::uint64_t bytes) { return bytes - std::min(bytes, output_bytes); };
  std::uint64_t memory =
      asked != 0 ? asked : std::max(left(io::available_memory()) / 2 / processes, minimum_memory);
  if (const auto limit = io::memory_limit()) {
    const std::uint64_t each = left(*limit) / processes;
    memory = std::min(memory, std::max(each > program ? each - program : 0, minimum_memory));
  }
  if (memory < minimum_memory) {
    const bool alike = size_text(memory) == size_text(minimum_memory);
    const auto text = [&](std::uint64_t bytes) {
      return alike ? io::describe_bytes(bytes) : size_text(bytes);
    };
    throw InputError(
        fmt::format("{} of memory is too little: at least {} is needed", text(memory), text(minimum_memory)));
  }
  return memory;
}

Work::Work(Frame frame) : frame_(std::make_unique<Frame>(std::move(frame))) {}
Work::~Work() = default;
Work::Work(Work&&) noexcept = default;
Work& Work::operator=(Work&&) noexcept = default;

void Work::note(const std::string& text) { add_note(frame_->note, text); }

std::uint64_t Work::bytes() const { return frame_->output.bytes; }

Summary Work::summary() const {
  const Frame& f = *frame_;
  // Each member removes the scratch files of its part, all at once.
  const std::uint64_t parts = f.membership.parts ? static_cast<std::uint64_t>(f.team()->size()) : 1;
  Summary all{.bytes = bytes(),
              .output_files = f.output.files,
              .scratch_bytes = scratch_bytes(),
              .memory = f.memory(),
              .device = f.disks.target.name,
              .fresh_memory_rate = f.setting.host.fresh_bytes_per_second,
              .note = f.note,
              .access = f.access.mapped() ? "mapped" : "direct",
              .passes = passes(),
              .removal_seconds = plan::scratch_seconds(scratch_bytes() / parts, plan::Host{})};
  for (const PassSummary& pass : all.passes) {
    all.bytes_read += pass.bytes_read;
    all.bytes_written += pass.bytes_written;
  }
  return all;
}

std::string Work::unfinished(const std::string& name) const {
  const std::string path = frame_->output.path.string();
  if (!frame_->journal || !read_journal(path)) return {};
  const std::string& shown = name.empty() ? path : name;
  return frame_->in_place()
             ? half_done(path, shown)
             : fmt::format("`xorder resume {}` goes on, `xorder discard {}` removes its files", shown, shown);
}

Report Work::run(const ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  Run run(*frame_, summary(), progress, std::move(stop));
  try {
    move(run);
  } catch (const IoError&) {
    run.require_unchanged_inputs();  // what was cut off cannot be read, and that is no fault of the disk
    throw;
  }
  Report report = run.finish();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Frame& f = *frame_;
  // The model of mapped files and of several processes is coarser than a profile.
  if (f.disks.measured && !f.access.mapped() && f.team() == nullptr)
    add_note(report.note, prediction_note(f.disks.target, summary().predicted_seconds(), report.seconds));
  return report;
}

}  // namespace xorder::work
