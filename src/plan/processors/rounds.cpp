#include "plan/processors/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "count_text.hpp"
#include "plan/cost.hpp"
#include "rounding.hpp"
#include "size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Word;
using schedule::Network;
using schedule::Rounds;
using std::uint64_t;

// One batch is written while the next one is made, from as many bytes that have been read for it.
constexpr uint64_t batches_in_memory = 3;

// Smaller batches are not made for the sake of time, since each goes through all rounds.
constexpr uint64_t least_batch = uint64_t{8} << 20;

// The memory of the processors themselves, with what each keeps of the range that it sends from. There are
// 2^n elements. A processor sends at most one chunk to each other one, and at least one element.
uint64_t own_memory(int lg_processors, int n, const ProcessorConditions& conditions) {
  constexpr uint64_t each = 256;
  const Network network = Network::crossbar(lg_processors);
  const uint64_t slots = uint64_t{1} << std::min(lg_processors, n - lg_processors);
  return machine_memory(network, slots, network.links(), conditions.link_times) + (each << lg_processors);
}

// The memory for the blocks of `batch` of 2^lg_processors processors, which share `bytes` bytes. Each
// processor sends from a range.
uint64_t batch_memory(uint64_t bytes, int lg_processors, uint64_t batch, bool mapped) {
  const uint64_t made = batch * (bytes >> lg_processors);
  return block_memory(made, uint64_t{1} << lg_processors, mapped) +
         (batches_in_memory - 1) * block_memory(made, batch, mapped);
}

// Whether the blocks of `batch` processors can be made together.
bool fits(uint64_t bytes, int n, int lg_processors, const ProcessorConditions& conditions, uint64_t batch) {
  const uint64_t own = own_memory(lg_processors, n, conditions) + transfer_memory(conditions);
  return own <= conditions.memory &&
         batch_memory(bytes, lg_processors, batch, conditions.mapped) <= conditions.memory - own;
}

// The default is default_processors, or as many more as it takes for one block to fit.
int choose_lg_processors(uint64_t bytes, int n, const ProcessorConditions& conditions) {
  if (const auto wanted = wanted_lg(conditions.processors, uint64_t{1} << n, "elements")) return *wanted;
  const int most = std::min(n, Network::max_dimension);
  int p = std::min(n, std::countr_zero(default_processors));
  while (p < most && !fits(bytes, n, p, conditions, 1)) ++p;
  return p;
}

Rounds make_rounds(const Reordering& what, std::optional<int> layout, const ProcessorConditions& conditions) {
  const auto map = flat_map(what);
  if (!map) {
    throw InputError(
        "schedule rounds needs extents that are powers of two; mesh transposes any matrix, the tile "
        "engine does everything");
  }
  const int p = choose_lg_processors(what.bytes(), map->bits(), conditions);
  return Rounds(*map, p, layout.value_or(map->bits() - p));
}

}  // namespace

FreeOrder free_order(const BitMatrix& map) {
  const int k = map.cols();
  // Reduces the columns to ones whose highest bits differ and are 0 in all others. If some combinations have
  // exactly the images' lowest s unit vectors as results, these are the first s columns by highest bit.
  std::vector<Word> images = map.columns(), order = BitMatrix::identity(k).columns();
  std::vector<std::pair<Word, Word>> reduced;  // image, order
  for (std::size_t j = 0; j < images.size(); ++j) {
    for (const auto& [image, combination] : reduced) {
      if (images[j] & std::bit_floor(image)) images[j] ^= image, order[j] ^= combination;
    }
    const Word highest = std::bit_floor(images[j]);
    for (auto& [image, combination] : reduced) {
      if (image & highest) image ^= images[j], combination ^= order[j];
    }
    reduced.emplace_back(images[j], order[j]);
  }
  std::ranges::sort(reduced);
  FreeOrder result;
  for (std::size_t j = 0; j < reduced.size(); ++j) std::tie(images[j], order[j]) = reduced[j];
  while (result.lg_run < k && images[static_cast<std::size_t>(result.lg_run)] == gf2::unit(result.lg_run)) {
    ++result.lg_run;
  }
  result.map = BitMatrix(map.rows(), std::move(images));
  result.order = BitMatrix(k, std::move(order));
  return result;
}

RoundsOnFiles::RoundsOnFiles(const Reordering& what, std::optional<int> layout,
                             const ProcessorConditions& conditions)
    : element_bytes_(what.element_bytes),
      rounds_(make_rounds(what, layout, conditions)),
      elements_(free_order(rounds_.factors().alpha_1)) {
  for (int j = elements_.lg_run; j < elements_.map.cols(); ++j) {
    run_places_.push_back(elements_.map.column(j) >> elements_.lg_run);
  }
  order_chunks();
  choose_batch(conditions);
}

// The memory is a limit and no goal: fresh memory takes time, and so does a first batch that is large.
void RoundsOnFiles::choose_batch(const ProcessorConditions& conditions) {
  uint64_t best = largest_batch(conditions);
  set_batch(best, conditions);
  if (conditions.link_times) return;  // on the network, each batch starts messages again
  double least = pass_.predicted_seconds;
  for (uint64_t batch = best / 2; batch * block_bytes() >= least_batch; batch /= 2) {
    set_batch(batch, conditions);
    if (pass_.predicted_seconds >= least) continue;
    least = pass_.predicted_seconds;
    best = batch;
  }
  set_batch(best, conditions);
}

void RoundsOnFiles::set_batch(uint64_t batch, const ProcessorConditions& conditions) {
  const uint64_t bytes = block_bytes() * processors();
  const int p = std::countr_zero(processors());
  batch_ = batch;
  lg_together_ = 0;
  while (lg_together_ < rounds_.factors().rank && chunk_places_.column(lg_together_) < batch) ++lg_together_;
  pass_ = overlapped({.tiles = processors() / batch,
                      .tile_bytes = batch * block_bytes(),
                      .source_block_bytes = chunk_bytes() << lg_together_,
                      .target_block_bytes = batch * block_bytes(),
                      .memory = batch_memory(bytes, p, batch, conditions.mapped) +
                                transfer_memory(conditions) + own_memory(p, rounds_.factors().n, conditions),
                      .bytes_read = bytes,
                      .bytes_written = bytes},
                     conditions.device, conditions.host, transfer_bytes);
}

uint64_t RoundsOnFiles::largest_batch(const ProcessorConditions& conditions) const {
  const uint64_t memory = conditions.memory;
  const uint64_t bytes = block_bytes() * processors();
  const int lg_processors = std::countr_zero(processors()), n = rounds_.factors().n;
  const uint64_t own = own_memory(lg_processors, n, conditions);
  if (own > memory / 3) {
    throw InputError(fmt::format(
        "{} virtual processors take about {} for themselves, too much for {} of memory; use fewer "
        "processors or more memory",
        processors(), size_text(own), size_text(memory)));
  }
  if (!fits(bytes, n, lg_processors, conditions, 1)) {
    throw block_too_large(block_bytes(), processors(), memory, batches_in_memory, [&](uint64_t more) {
      ProcessorConditions with_more = conditions;
      with_more.memory = more;
      return fits(bytes, n, lg_processors, with_more, 1);
    });
  }
  uint64_t batch = 1;
  while (batch < processors() && fits(bytes, n, lg_processors, conditions, 2 * batch)) batch *= 2;
  return batch;
}

// A power of two, so that a batch consists of whole mappings.
uint64_t RoundsOnFiles::blocks_together() const {
  return std::min(batch_, std::bit_ceil(ceil_div(least_in_place(), block_bytes())));
}

// Puts the chunks in the order of their receivers, unless the permutation before would otherwise be the
// identity: a pass only for larger reads would cost more than it saves.
void RoundsOnFiles::order_chunks() {
  FreeOrder chunks = free_order(rounds_.factors().gamma_2);
  const int rank = rounds_.factors().rank;
  const BitMatrix as_is = BitMatrix::identity(rank);
  before_ = arrangement(as_is);
  if (before_.is_identity()) {
    chunks = {as_is, rounds_.factors().gamma_2, 0};
  } else {
    before_ = arrangement(chunks.order);
  }
  chunk_of_round_ = chunks.order.inverse().value();
  chunk_places_ = std::move(chunks.map);
}

AffineMap RoundsOnFiles::arrangement(const BitMatrix& order_of_chunks) const {
  const int n = rounds_.factors().n, k = rounds_.lg_chunk();
  std::vector<Word> columns = BitMatrix::identity(n).columns();
  const BitMatrix elements = elements_.order.inverse().value(), chunks = order_of_chunks.inverse().value();
  for (int j = 0; j < k; ++j) columns[static_cast<std::size_t>(j)] = elements.column(j);
  for (int j = 0; j < chunks.cols(); ++j) columns[static_cast<std::size_t>(k + j)] = chunks.column(j) << k;
  return {BitMatrix(n, std::move(columns)) * rounds_.factors().within * rounds_.layout(), 0};
}

Reordering RoundsOnFiles::on_elements(const AffineMap& map) const {
  return mapping_of_all({{elements()}, element_bytes_, Order::c}, map);
}

AffineMap RoundsOnFiles::after() const { return {rounds_.layout().inverse().value(), 0}; }

RoundsOnFiles::Scatter RoundsOnFiles::scatter(schedule::Node sender, uint64_t round) const {
  const schedule::RoundFactors& f = rounds_.factors();
  const Word offset = f.alpha_2(round) ^ f.beta(sender) ^ (f.complement & gf2::low_mask(rounds_.lg_block()));
  // A run is moved as a whole only if the offset's low bits, which permute the elements of a run, are 0.
  // Otherwise (a complement, for example) elements are moved one by one.
  if (offset & gf2::low_mask(elements_.lg_run)) return {elements_.map.columns(), offset, element_bytes_};
  return {run_places_, offset >> elements_.lg_run, element_bytes_ << elements_.lg_run};
}

std::string RoundsOnFiles::describe() const {
  return fmt::format(
      "{} (rank \u03b3 = {}) among {}, whose blocks of {} are made {} at a time; "
      "chunks of {}, {} together, put in runs of {}\n",
      count_text(rounds_.steps(), "round"), rounds_.factors().rank,
      count_text(processors(), "virtual processor"), size_text(block_bytes()), batch_,
      size_text(chunk_bytes()), chunks_together(), size_text(element_bytes_ << elements_.lg_run));
}

}  // namespace xorder::plan
