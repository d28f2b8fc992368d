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

}  // namespace xorder::cli
