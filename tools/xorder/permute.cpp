#include <fmt/format.h>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "expression_help.hpp"
#include "option_groups.hpp"
#include "text/count_text.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::cli {
namespace {

struct PermuteOptions {
  std::string expression, matrix;
  std::optional<int> axis;
};

// `extents` are those of an array whose flat index is mapped.
gf2::AffineMap wanted_map(const PermuteOptions& options, int n, std::span<const std::uint64_t> extents = {}) {
  if (!options.expression.empty()) return parse_expression(options.expression, n, extents);
  gf2::AffineMap map = read_matrix(options.matrix);
  if (map.bits() != n) {
    throw InputError(fmt::format("{}: the matrix is for {}, but there are 2^{} elements", options.matrix,
                                 count_text(map.bits(), "bit"), n));
  }
  return map;
}

}  // namespace

CLI::App* add_permute(CLI::App& parent, std::shared_ptr<Engine> engine) {
  CLI::App* command =
      parent.add_subcommand("permute", "perform any BMMC permutation: element x goes to A x ^ c");
  command->footer(
      std::string(expression_help) +
      "Examples:\n"
      "  xorder permute a.npy z.npy --by 'morton(2)'                  a 2^k x 2^k matrix in Z order\n"
      "  xorder permute a.npy b.npy --by 'gray^-1 * bitreverse'       first bitreverse, then undo a Gray "
      "code\n"
      "  xorder permute a.npy b.npy --by reverse --axis 1             every row backwards\n"
      "  xorder permute a.raw b.raw --dtype u4 --matrix a.txt         A from a file of 0s and 1s");
  const auto options = std::make_shared<PermuteOptions>();
  auto* by = command->add_option("--by", options->expression, "the permutation, as an expression")
                 ->type_name("EXPR")
                 ->group(group::task);
  auto* matrix =
      command
          ->add_option("--matrix", options->matrix,
                       "n lines of n characters 0 or 1, row = target bit, column = source bit, least\n"
                       "significant first; an optional last line 'c 0101..' is the complement")
          ->type_name("FILE")
          ->group(group::task);
  by->excludes(matrix);
  add_parsed(*command, "--axis", "K", options->axis, parse_int,
             "permute along this axis, the others are a batch; default: the flat index")
      ->group(group::task);
  const auto make = [options, engine](const Request& request) {
    const io::ArrayDescription& in = request.array();
    const std::string name = request.input().path.string();
    if (options->expression.empty() && options->matrix.empty()) {
      throw InputError("permute needs --by EXPR or --matrix FILE");
    }
    if (!options->axis) {
      const auto map =
          wanted_map(*options, exact_lg(in.elements(), name + ": the number of elements"), in.extents);
      return engine->work(request, request.mapping_of_all(map), in.extents);
    }
    const int k = checked_axis(*options->axis, in.extents.size());
    const int n = exact_lg(in.extents[static_cast<std::size_t>(k)], name + ": axis " + std::to_string(k));
    return engine->work(request, request.mapping_along(k, wanted_map(*options, n)), in.extents);
  };
  engine->add_frame(*command, make, {.texts = {&options->matrix}, .joins = true});
  engine->add_to(*command);
  return command;
}

}  // namespace xorder::cli
