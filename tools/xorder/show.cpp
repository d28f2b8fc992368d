#include "show.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "checked_option.hpp"
#include "commands.hpp"
#include "expression_help.hpp"
#include "option_groups.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/json_text.hpp"
#include "text_file.hpp"
#include "xorder/drawing/draw.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {
namespace {

struct Options {
  std::string expression;
  std::string matrix;
  std::optional<int> bits;
  std::optional<std::uint64_t> block;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> processors;
  std::string layout;  ///< empty if it was not given
  std::string svg;
  bool json = false;
  bool force = false;
};

gf2::AffineMap permutation(const Options& options) {
  if (options.bits && (*options.bits < 0 || *options.bits > bmmc::max_bits))
    throw InputError(fmt::format("--bits: {} is not from 0 to {}", *options.bits, bmmc::max_bits));
  if (options.matrix.empty()) {
    if (options.expression.empty()) throw InputError("show needs a permutation: EXPR or --matrix FILE");
    if (!options.bits) throw InputError("show EXPR needs --bits N, the number of index bits");
    return parse_expression(options.expression, *options.bits);
  }
  if (!options.expression.empty()) throw InputError("show takes EXPR or --matrix FILE, not both");
  const gf2::AffineMap map = read_matrix(options.matrix);
  if (options.bits && *options.bits != map.bits()) {
    throw InputError(fmt::format("{}: the matrix has {}, but --bits is {}", options.matrix,
                                 count_text(map.bits(), "row"), *options.bits));
  }
  return map;
}

ProcessorRounds rounds_of(const Options& options, const gf2::AffineMap& map) {
  const std::string layout = options.layout.empty() ? "major" : options.layout;
  const auto rounds = make_rounds(map, *options.processors, layout);
  return {*options.processors, lowest_processor_bit(map.bits(), *options.processors, layout), rounds->steps(),
          named(rounds->factors())};
}

Shown shown(const Options& options) {
  Shown s;
  s.map = permutation(options);
  s.title = options.matrix.empty() ? options.expression : options.matrix;
  s.inverse = s.map.inverse();
  for (int b = 0; b <= s.bits(); ++b) s.rank_gamma.push_back(gf2::rank_gamma(s.map.matrix, b));
  if (options.memory && !options.block) throw InputError("--memory needs --block");
  if (options.block) s.passes = drawing::passes_of(s.map, *options.block, options.memory, "--");
  if (!options.layout.empty() && !options.processors) throw InputError("--layout needs --processors");
  if (options.processors) s.rounds = rounds_of(options, s.map);
  return s;
}

nlohmann::ordered_json as_json(const Shown& s, const Options& options) {
  nlohmann::ordered_json json;
  json["expression"] = options.matrix.empty() ? nlohmann::ordered_json(options.expression) : nullptr;
  json.update(drawing::map_json(s.map, s.passes));
  if (s.rounds) {
    json["processors"] = s.rounds->processors;
    json["layout"] = s.rounds->f;
    json["rounds"] = s.rounds->rounds;
    json["round_factors"] = factors_as_json(s.rounds->factors);
  }
  return json;
}

void run(const Options& options) {
  const Shown s = shown(options);
  if (!options.svg.empty()) {
    std::vector<std::filesystem::path> made_from;
    if (!options.matrix.empty()) made_from.emplace_back(options.matrix);
    const auto block = s.passes ? std::optional(s.passes->lg_block) : std::nullopt;
    write_text(options.svg, drawing::draw(s.map, s.title, block), options.force, made_from);
  }
  if (options.json) {
    fmt::print("{}\n", json_text(as_json(s, options)));
  } else if (options.svg.empty()) {
    fmt::print("{}", printable(show_as_text(s)));
  }
}

}  // namespace

void add_show(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* show = app.add_subcommand("show", "show the matrix of a permutation, its inverse and its cost");
  show->add_option("EXPR", options->expression,
                   "the permutation, for example 'transpose(3,5)' or 'gray * bitreverse^-1'");
  add_number(*show, "--bits", options->bits, "bits of the index: 2^N elements are permuted")
      ->group(group::task);
  show->add_option("--matrix", options->matrix, "read the matrix from a file instead of EXPR")
      ->type_name("FILE")
      ->group(group::task);
  add_number(*show, "--block", options->block,
             "elements per block, a power of two; outlines gamma, and shows passes and factors")
      ->type_name("B")
      ->group(group::task);
  add_number(*show, "--memory", options->memory,
             "elements that fit in memory, a power of two; default: enough for one pass with --block")
      ->type_name("M")
      ->group(group::task);
  add_number(*show, "--processors", options->processors,
             "number of processors, a power of two; shows the factors T, R, P, W and V: A = V W, V = A T R P")
      ->type_name("P")
      ->group(group::task);
  add_layout(*show, options->layout, "with --processors: ", "the processor's number")->group(group::task);
  show->add_option("--svg", options->svg, "draw it into a file, instead of printing it")
      ->type_name("FILE")
      ->group(group::output);
  show->add_flag("-f,--force", options->force, "replace the drawing if it exists")->group(group::output);
  show->add_flag("--json", options->json, "print one JSON object; bit i of columns[j] is row i of column j")
      ->group(group::reporting);
  show->footer(std::string(expression_help) +
               "Examples:\n"
               "  xorder show 'transpose(3,5)' --bits 8 --block 16\n"
               "  xorder show 'bitreverse * gray^-1' --bits 12 --json\n"
               "  xorder show bitreverse --bits 24 --block 4096 --memory 65536\n"
               "  xorder show gray --bits 8 --processors 4\n"
               "  xorder show 'morton(2)' --bits 16 --block 64 --svg morton.svg");
  show->callback([options] { run(*options); });
}

}  // namespace xorder::cli
