#include <fmt/format.h>

#include <memory>

#include "bench/bench.hpp"
#include "option_groups.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

void add_bench_compare(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "compare", "compare two results of one benchmark: two machines, two disks, before and after");
  command->footer(
      "Examples:\n"
      "  xorder bench cache --json a.json\n"
      "  xorder bench compare a.json b.json\n"
      "  xorder bench compare a.json b.json --html compared.html");
  struct Options {
    std::string a, b, html;
    bool force = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("A", options->a, "a file written by --json")->required();
  command->add_option("B", options->b, "another one")->required();
  command->add_option("--html", options->html, "draw both on one page")
      ->type_name("FILE")
      ->group(group::output);
  command->add_flag("-f,--force", options->force, "replace the page if it exists")->group(group::output);
  command->callback([options] {
    const Comparison both{read_results(options->a), read_results(options->b)};
    const std::string text = comparison_text(both);
    if (!options->html.empty()) {
      TextFile page(options->html, options->force, {options->a, options->b});
      page.write(comparison_page(both));
    }
    fmt::print("{}", text);
  });
}

void add_bench_draw(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("draw", "draw a result of a benchmark");
  command->footer(
      "Examples:\n"
      "  xorder bench cache --json a.json\n"
      "  xorder bench draw a.json --html a.html\n"
      "  xorder bench draw a.json --figure latency --svg latency.svg");
  struct Options {
    std::string results, html, svg, figure;
    bool force = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("RESULT", options->results, "a file written by --json, or by a script of bench/")
      ->required();
  command->add_option("--html", options->html, "draw everything on one page")
      ->type_name("FILE")
      ->group(group::output);
  CLI::Option* const svg =
      command->add_option("--svg", options->svg, "draw one figure")->type_name("FILE")->group(group::output);
  CLI::Option* const figure = command->add_option("--figure", options->figure, "the id of that figure");
  svg->needs(figure->type_name("ID")->group(group::output)->needs(svg));
  command->add_flag("-f,--force", options->force, "replace the files if they exist")->group(group::output);
  command->callback([options] {
    require_different_files({{"--html", options->html}, {"--svg", options->svg}});
    const Results results = read_results(options->results);
    std::optional<TextFile> page, drawing;
    if (!options->html.empty())
      page.emplace(options->html, options->force, std::vector<std::filesystem::path>{options->results});
    if (!options->svg.empty())
      drawing.emplace(options->svg, options->force, std::vector<std::filesystem::path>{options->results});
    const std::string text = options->svg.empty() ? "" : figure_file(results, options->figure);
    if (page) page->write(results_page(results));
    if (drawing) drawing->write(text);
    if (!page && !drawing) fmt::print("{}", results_text(results));
  });
}

}  // namespace xorder::cli
