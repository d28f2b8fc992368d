#include "report/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

constexpr std::size_t most_pictures = 8;  // one per file
// Cells of all pictures. A cell takes at most 4 to 8 bytes on the page.
constexpr std::size_t most_cells = 160'000;
constexpr std::size_t aspect = 3;

// Splits [from, to), in units of parts, among the parts it touches, all of which are below `parts`: calls
// take(part, length) for each. An empty range lies in one part.
template <typename Take>
void split(double from, double to, std::size_t parts, const Take& take) {
  const auto last = static_cast<double>(parts - 1);
  const double first = std::min(std::floor(from), last);
  if (to <= first + 1) return take(static_cast<std::size_t>(first), to - from);
  for (double part = first; part < to && part <= last; ++part) {
    take(static_cast<std::size_t>(part), std::min(to, part + 1) - std::max(from, part));
  }
}

class Surveyor {
 public:
  Surveyor(const std::vector<TracedFile>& files, double seconds) : files_(files) {
    survey_.seconds = seconds;
    survey_.files.resize(files.size());
    const std::size_t pictures = std::min(files.size(), most_pictures);
    const double cells =
        static_cast<double>(std::min<std::size_t>(most_cells / std::max<std::size_t>(pictures, 1), 76'800));
    const auto rows = static_cast<std::size_t>(std::sqrt(cells / aspect));
    survey_.visits.resize(pictures, Visits{aspect * rows, rows, {}});
  }

  void add(const io::TraceRecord& record) {
    const std::size_t kind = record.is_write;
    survey_.all[kind].transfers += 1;
    survey_.all[kind].bytes += record.bytes;
    survey_.files[record.file][kind].transfers += 1;
    survey_.files[record.file][kind].bytes += record.bytes;
    survey_.partial += record.is_partial;
    survey_.latency[kind].add(static_cast<double>(record.seconds));
    survey_.size[kind].add(static_cast<double>(record.bytes));

    const double bytes = static_cast<double>(record.bytes);
    const double spans_per_second = Survey::spans / survey_.seconds;
    const double begin = record.begin * spans_per_second, end = record.end() * spans_per_second;
    split(begin, end, Survey::spans, [&](std::size_t span, double length) {
      survey_.in_flight[kind][span] += length;
      survey_.moved[kind][span] += end > begin ? bytes * length / (end - begin) : bytes;
    });
    if (record.file < survey_.visits.size()) visit(record, survey_.visits[record.file]);
  }

  Survey take() { return std::move(survey_); }

 private:
  void visit(const io::TraceRecord& record, Visits& visits) const {
    std::vector<float>& cells = visits.bytes[record.is_write];
    if (cells.empty()) cells.resize(visits.columns * visits.rows);
    const double columns_per_second = static_cast<double>(visits.columns) / survey_.seconds;
    const double rows_per_byte =
        static_cast<double>(visits.rows) / std::max(static_cast<double>(files_[record.file].bytes), 1.0);
    const double left = record.begin * columns_per_second, right = record.end() * columns_per_second;
    const double low = static_cast<double>(record.offset) * rows_per_byte;
    const double high = low + static_cast<double>(record.bytes) * rows_per_byte;
    split(low, high, visits.rows, [&](std::size_t row, double height) {
      split(left, right, visits.columns, [&](std::size_t column, double width) {
        const double part =
            (high > low ? height / (high - low) : 1) * (right > left ? width / (right - left) : 1);
        cells[row * visits.columns + column] += static_cast<float>(part * static_cast<double>(record.bytes));
      });
    });
  }

  const std::vector<TracedFile>& files_;
  Survey survey_;
};

}  // namespace

Survey survey(io::TraceReader& trace, const std::vector<TracedFile>& files, double seconds) {
  Surveyor surveyor(files, seconds);
  const double latest = seconds * 1.001 + 1e-3;  // records hold floats, which are rounded
  for (auto records = trace.next(); !records.empty(); records = trace.next()) {
    for (const io::TraceRecord& record : records) {
      if (record.file >= files.size()) {
        throw InputError(fmt::format("{}: is damaged: a record is of file {}, but {} are described",
                                     trace.name(), record.file, files.size()));
      }
      if (record.end() > latest) {
        throw InputError(fmt::format("{}: is damaged: a record ends after {:.6g} s, the run after {:.6g} s",
                                     trace.name(), record.end(), seconds));
      }
      surveyor.add(record);
    }
  }
  return surveyor.take();
}

}  // namespace xorder::cli
