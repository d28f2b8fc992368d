#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "option_groups.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::cli {

CLI::App* add_bitreverse(CLI::App& parent, std::shared_ptr<Engine> engine) {
  CLI::App* command = parent.add_subcommand("bitreverse", "bit-reverse one axis, as for an FFT");
  command->footer(
      "The axis must have 2^n elements.\n"
      "Examples:\n"
      "  xorder bitreverse signal.npy reversed.npy                    2^n elements, or every row of a "
      "matrix\n"
      "  xorder bitreverse a.npy b.npy --axis 0                       the rows change places\n"
      "  xorder bitreverse signal.raw reversed.raw --dtype c16        a raw file of complex doubles");
  const auto axis = std::make_shared<int>(-1);
  add_parsed(*command, "--axis", "K", *axis, parse_int,
             "the axis, whose extent must be 2^n; the others are a batch; default: the last")
      ->group(group::task);
  engine->add_frame(*command,
                    [axis, engine](const Request& request) {
                      const io::ArrayDescription& in = request.array();
                      if (in.extents.empty())
                        throw InputError("bitreverse needs an array with at least one axis");
                      const int k = checked_axis(*axis, in.extents.size());
                      const int n = exact_lg(in.extents[static_cast<std::size_t>(k)],
                                             request.input().path.string() + ": axis " + std::to_string(k));
                      return engine->work(request, request.mapping_along(k, bmmc::bit_reverse(n)),
                                          in.extents);
                    },
                    {.joins = true});
  engine->add_to(*command);
  return command;
}

}  // namespace xorder::cli
