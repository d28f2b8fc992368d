#include "plan/processors/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "text/count_text.hpp"
#include "plan/choose.hpp"
#include "plan/price.hpp"
#include "rounding.hpp"
#include "text/size_text.hpp"
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
uint64_t own_memory(int lg_processors, int n, const ProcessorSetting& setting) {
  constexpr uint64_t each = 256;
  const Network network = Network::crossbar(lg_processors);
  const uint64_t slots = uint64_t{1} << std::min(lg_processors, n - lg_processors);
  return machine_memory(network, slots, network.links(), setting.link_times) + (each << lg_processors);
}

// The memory for the blocks of `batch` of 2^lg_processors processors, which share `bytes` bytes. Each
// processor sends from a range.
uint64_t batch_memory(uint64_t bytes, int lg_processors, uint64_t batch, bool mapped) {
  const uint64_t made = batch * (bytes >> lg_processors);
  return block_memory(made, uint64_t{1} << lg_processors, mapped) +
         (batches_in_memory - 1) * block_memory(made, batch, mapped);
}

// Whether the blocks of `batch` processors can be made together.
bool fits(uint64_t bytes, int n, int lg_processors, const ProcessorSetting& setting, uint64_t batch) {
  const uint64_t own = own_memory(lg_processors, n, setting) + transfer_memory(setting);
  return own <= setting.memory &&
         batch_memory(bytes, lg_processors, batch, setting.mapped) <= setting.memory - own;
}

Rounds make_rounds(const Reordering& what, std::optional<int> layout, const ProcessorSetting& setting) {
  const auto map = flat_map(what);
  if (!map) {
    throw InputError(
        "schedule rounds needs extents that are powers of two; mesh transposes any matrix, the tile "
        "engine does everything");
  }
  const int n = map->bits();
  const int p = choose_lg_processors(setting.processors, uint64_t{1} << n, "elements",
                                     [&](int lg) { return fits(what.bytes(), n, lg, setting, 1); });
  return Rounds(*map, p, layout.value_or(n - p));
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
                             const ProcessorSetting& setting)
    : element_bytes_(what.element_bytes),
      rounds_(make_rounds(what, layout, setting)),
      elements_(free_order(rounds_.factors().alpha_1)) {
  for (int j = elements_.lg_run; j < elements_.map.cols(); ++j) {
    run_places_.push_back(elements_.map.column(j) >> elements_.lg_run);
  }
  order_chunks();
  choose_batch(setting);
}

void RoundsOnFiles::choose_batch(const ProcessorSetting& setting) {
  const uint64_t largest = largest_batch(setting);
  // On the network, each batch starts messages again.
  const uint64_t least = setting.link_times ? largest : ceil_div(least_batch, block_bytes());
  pass_ = *choose(
      halves(largest, least), [&](uint64_t batch) { return std::optional(pass_of(batch, setting)); },
      [](const PassSummary& pass) { return pass.predicted_seconds; });
  batch_ = pass_.tile_bytes / block_bytes();
  lg_together_ = lg_together(batch_);
}

int RoundsOnFiles::lg_together(uint64_t batch) const {
  int lg = 0;
  while (lg < rounds_.factors().rank && chunk_places_.column(lg) < batch) ++lg;
  return lg;
}

PassSummary RoundsOnFiles::pass_of(uint64_t batch, const ProcessorSetting& setting) const {
  const int p = std::countr_zero(processors());
  return priced({.tiles = processors() / batch,
                 .tile_bytes = batch * block_bytes(),
                 .source_block_bytes = chunk_bytes() << lg_together(batch),
                 .target_block_bytes = batch * block_bytes(),
                 .memory = batch_memory(bytes(), p, batch, setting.mapped) + transfer_memory(setting) +
                           own_memory(p, rounds_.factors().n, setting),
                 .bytes_read = bytes(),
                 .bytes_written = bytes()},
                setting.pass(before_.is_identity(), after().is_identity()), transfer_bytes);
}

uint64_t RoundsOnFiles::largest_batch(const ProcessorSetting& setting) const {
  const uint64_t memory = setting.memory;
  const int lg_processors = std::countr_zero(processors()), n = rounds_.factors().n;
  const uint64_t own = own_memory(lg_processors, n, setting);
  if (own > memory / 3) {
    throw InputError(fmt::format(
        "{} virtual processors take about {} for themselves, too much for {} of memory; use fewer "
        "processors or more memory",
        processors(), size_text(own), size_text(memory)));
  }
  const auto fit = [&](uint64_t blocks, uint64_t in) {
    ProcessorSetting other = setting;
    other.memory = in;
    return fits(bytes(), n, lg_processors, other, blocks);
  };
  if (!fit(1, memory)) {
    throw block_too_large(block_bytes(), processors(), memory, batches_in_memory,
                          [&](uint64_t more) { return fit(1, more); });
  }
  uint64_t batch = 1;
  while (batch < processors() && fit(2 * batch, memory)) batch *= 2;
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
