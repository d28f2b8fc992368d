// `xorder schedule banded`: which band is meant, one matrix or several, and their tables.
#include <fmt/format.h>

#include <bit>

#include "schedule.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/banded_batch.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using std::uint64_t;
using Row = std::vector<nlohmann::json>;

struct Band {
  int dimension = 0;
  int beta = 0;
};

Band band(const BandOptions& o) {
  constexpr const char* ways =
      "banded takes --dimension with --beta or --bandwidth, or --columns with --processors and --bandwidth";
  if (o.columns || o.processors) {
    if (!o.columns || !o.processors || !o.bandwidth || o.dimension || o.beta) throw InputError(ways);
    const int d = exact_lg(*o.processors, "--processors");
    static_cast<void>(schedule::Network::hypercube(d));  // not too many?
    return {d, schedule::band_of_blocks(*o.bandwidth, *o.columns, d).beta};
  }
  if (!o.dimension || o.beta.has_value() == o.bandwidth.has_value()) throw InputError(ways);
  if (*o.dimension < 0 || *o.dimension > schedule::Network::max_dimension) {
    throw InputError(fmt::format("--dimension is {}; a schedule has 2^0 to 2^{} virtual processors",
                                 *o.dimension, schedule::Network::max_dimension));
  }
  return {*o.dimension, o.beta ? *o.beta : schedule::beta_of_bandwidth(*o.bandwidth, *o.dimension)};
}

std::vector<std::string> dimensions(int first, int count) {
  std::vector<std::string> names;
  for (int j = first; j < first + count; ++j) names.push_back(fmt::format("j={}", j));
  return names;
}

// A table of tags by step and dimension, the ring's last.
void show_one(ShownSchedule& shown, Band b) {
  auto banded = std::make_unique<schedule::Banded>(b.dimension, b.beta);
  const schedule::Banded* s = banded.get();
  shown.table = {
      "the tags that cross each dimension, of A then of B, and the tag that is released on the ring", "step",
      dimensions(b.dimension - b.beta, b.beta), s->steps(), [s, b](uint64_t step) {
        Row row;
        for (int j = 0; j < b.beta; ++j) {
          row.push_back(
              fmt::format("{}{}", s->second_half(step) && b.beta < b.dimension ? "B" : "A", s->tag(step, j)));
        }
        if (b.beta < b.dimension) row.emplace_back(s->release()[step]);
        return row;
      }};
  if (b.beta < b.dimension) shown.table.columns.push_back("ring");
  shown.colours = {{colour::navy, "A, for nodes with the same place in their ring"},
                   {colour::steel, "B, come from a ring neighbour"},
                   {colour::orange, "over the ring"}};
  shown.label_meaning = "the tag";
  shown.mark = [s, b](uint64_t step, const Message& m) {
    const int j = std::countr_zero(m.from.node ^ m.to.node) - (b.dimension - b.beta);
    if (j < 0) return Mark{2, std::to_string(s->release()[step])};
    return Mark{s->second_half(step) ? 1u : 0u, std::to_string(s->tag(step, j))};
  };
  shown.schedule = std::move(banded);
}

// A table of messages by step and dimension.
void show_batch(ShownSchedule& shown, Band b, int matrices) {
  auto batch = std::make_unique<schedule::BandedBatch>(b.dimension, b.beta, matrices);
  const schedule::BandedBatch* s = batch.get();
  shown.table = {"how many messages cross each dimension", "step", dimensions(0, b.dimension), s->steps(),
                 [s, b](uint64_t step) {
                   std::vector<uint64_t> count(static_cast<std::size_t>(b.dimension), 0);
                   std::vector<Message> messages;
                   s->messages(step, messages);
                   for (const Message& m : messages) {
                     ++count[static_cast<std::size_t>(std::countr_zero(m.from.node ^ m.to.node))];
                   }
                   return Row(count.begin(), count.end());
                 }};
  shown.facts["first_phase"] = s->first_phase();
  const int largest = matrices - 1;
  for (int m = 0; m < matrices; ++m) {
    shown.colours.push_back(
        {m == 0 ? colour::orange : colour::shade(m - 1, largest), fmt::format("matrix {}", m)});
  }
  shown.mark = [s](uint64_t, const Message& m) {
    return Mark{static_cast<std::size_t>(m.from.slot / s->layout().width()), ""};
  };
  shown.schedule = std::move(batch);
}

}  // namespace

ShownSchedule show_banded(const BandOptions& options) {
  const Band b = band(options);
  ShownSchedule shown;
  shown.title = fmt::format("banded --dimension {} --beta {}", b.dimension, b.beta);
  shown.parameters = {{"dimension", b.dimension}, {"beta", b.beta}, {"matrices", options.matrices}};
  if (options.columns) shown.parameters["columns"] = *options.columns;
  if (options.bandwidth) shown.parameters["bandwidth"] = *options.bandwidth;
  if (options.matrices == 1) {
    show_one(shown, b);
  } else {
    shown.title += fmt::format(" --matrices {}", options.matrices);
    show_batch(shown, b, options.matrices);
  }
  shown.summary =
      fmt::format("transposition of {} on 2^{} nodes, {} a node in Gray-code order",
                  options.matrices == 1 ? "a cyclic banded matrix"
                                        : fmt::format("{} cyclic banded matrices", options.matrices),
                  b.dimension, options.columns ? "a block of columns" : "a column");
  return shown;
}

}  // namespace xorder::cli
