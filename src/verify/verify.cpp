#include "xorder/verify/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/count_text.hpp"
#include "verify/comparison.hpp"
#include "verify/read_back.hpp"
#include "verify/reading.hpp"
#include "work/frame.hpp"
#include "work/meter.hpp"
#include "work/profiles.hpp"
#include "work/resuming.hpp"
#include "xorder/error.hpp"

namespace xorder::verify {
namespace {

// Where the data begin in the file, and the bytes of an element.
std::vector<Difference> found(const Comparison& comparison, std::uint64_t offset, std::uint64_t element) {
  std::vector<Difference> all;
  for (const auto& [begin, end] : comparison.differences())
    all.push_back({offset + begin, offset + end, begin / element, (end + element - 1) / element});
  return all;
}

void require_no_gaps(const io::ArrayFile& array) {
  const io::ArrayDescription& is = array.description;
  if (!is.is_contiguous(Order::c) && !is.is_contiguous(Order::fortran))
    throw InputError(fmt::format("{}: its elements must follow each other in the file", array.path.string()));
}

void require_unchanged(const io::ArrayFile& array) {
  if (array.file->stamp() != array.stamp)
    throw IoError(array.path.string(), "the file was changed while it was being read");
}

}  // namespace

void check_result(const io::ArrayFile& output, const io::DType& dtype,
                  const std::vector<std::uint64_t>& extents, Order order) {
  const auto refuse = [&](const char* what, const auto& is, const auto& expected) {
    throw InputError(
        fmt::format("{}: its {} is {}, that of the result {}", output.path.string(), what, is, expected));
  };
  const io::ArrayDescription& array = output.description;
  const auto list = [](const auto& items) { return fmt::format("({})", fmt::join(items, ", ")); };
  if (array.dtype != dtype) refuse("type", array.dtype.descr, dtype.descr);
  if (array.extents != extents) refuse("shape", list(array.extents), list(extents));
  const auto letter = [](Order of) { return of == Order::c ? "C" : "F"; };
  require_no_gaps(output);
  if (!array.is_contiguous(order)) refuse("order", letter(array.order()), letter(order));
}

std::vector<Difference> compare(const std::vector<io::ArrayFile>& inputs, const Reordering& what,
                                const io::ArrayFile& output, const Options& options,
                                const work::ProgressCallback& progress, std::stop_token stop) {
  const io::ArrayDescription& result = output.description;
  if (inputs.empty()) throw InputError("no input");
  for (const io::ArrayFile& input : inputs) work::refuse_half_done(input.path);
  work::refuse_half_done(output.path);
  work::check_sizes(what.bytes(), inputs, result.extents);
  require_no_gaps(output);
  const std::uint64_t memory = work::effective_memory(options.memory);

  Comparison comparison(what);
  work::Meter meter(inputs.front().file->disk());
  std::vector<io::File> files;
  Stored source{{}, work::source_files(inputs), what.bytes()};
  if (source.layout)
    source.layout =
        source.layout->reading_through(plan::gap_worth_reading(work::device_for(inputs.front().path).device));
  files.reserve(inputs.size() + 1);
  for (const io::ArrayFile& input : inputs) {
    if (input.description.elements() == 0) continue;
    files.push_back(opened_past_cache(*input.file, meter));
    source.files.push_back({files.back(), input.description.begin()});
  }
  files.push_back(opened_past_cache(*output.file, meter));
  const Stored target{{{files.back(), result.offset}}, nullptr, what.bytes()};

  task::Workers workers(options.threads);
  work::Progress done{.bytes_total = 2 * what.bytes()};
  const auto tick = [&] {
    done.bytes_done = std::min(meter.count().bytes_read, done.bytes_total);
    if (progress) progress(done);
  };
  const Means means{buffers(memory), workers, tick, std::move(stop)};
  const auto add = [&](auto... part) { comparison.add_target(part...); };
  const auto subtract = [&](auto... part) { comparison.subtract_source(part...); };
  try {
    read(source, subtract, means);
    read(target, add, means);
  } catch (const IoError&) {
    std::ranges::for_each(inputs, require_unchanged);
    require_unchanged(output);
    throw;
  }
  std::ranges::for_each(inputs, require_unchanged);
  require_unchanged(output);
  return found(comparison, result.offset, result.dtype.bytes);
}

std::string text(const std::string& name, const std::vector<Difference>& differences) {
  const Difference& first = differences.front();
  std::string text =
      fmt::format("{}: bytes {} to {} (elements {} to {}) are not those of the result", name,
                  first.first_byte, first.end_byte - 1, first.first_element, first.end_element - 1);
  if (differences.size() > 1)
    text += fmt::format(", and so in {}, the last of which ends at byte {}",
                        count_text(differences.size() - 1, "more place"), differences.back().end_byte - 1);
  return text;
}

void read_back(work::Run& run, Comparison& comparison, std::uint64_t memory) {
  const io::Location target = run.target();
  target.file.sync();
  const io::File file = opened_past_cache(target.file, target.file.disk());
  const Stored array{{{file, target.offset}}, nullptr, comparison.bytes()};
  task::Workers workers(run.frame().options.threads);
  const auto add = [&](auto... part) { comparison.add_target(part...); };
  read(array, add, {buffers(memory), workers, [&] { run.tick(); }, run.stop()});
  const auto differences = found(comparison, target.offset, run.frame().input().description.dtype.bytes);
  if (!differences.empty())
    throw IoError(target.file.name(), text("read again", differences) + "; the output was discarded");
}

}  // namespace xorder::verify
