#include "arguments.hpp"
#include "commands.hpp"
#include "moving.hpp"
#include "option_groups.hpp"
#include "schedule_options.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::cli {

void add_bitreverse(CLI::App& program) {
  CLI::App* command = program.add_subcommand("bitreverse", "bit-reverse one axis, as for an FFT");
  command->footer(
      "The axis must have 2^n elements. With --schedule exchange it must be the whole array, not a batch.\n"
      "Examples:\n"
      "  xorder bitreverse signal.npy reversed.npy                    2^n elements, or every row of a "
      "matrix\n"
      "  xorder bitreverse a.npy b.npy --axis 0                       the rows change places\n"
      "  xorder bitreverse signal.raw reversed.raw --dtype c16        a raw file of complex doubles\n"
      "  xorder bitreverse signal.raw reversed.raw --dtype c16 --schedule exchange   by virtual processors");
  const auto axis = std::make_shared<std::string>("-1");
  command
      ->add_option("--axis", *axis,
                   "the axis, whose extent must be 2^n; the others are a batch; default: the last")
      ->type_name("K")
      ->group(group::task);
  const auto schedule_options = std::make_shared<ScheduleOptions>();
  MovingCommand::add_to(*command, [axis, schedule_options](const Request& request) {
    const io::ArrayDescription& in = request.array();
    if (in.extents.empty()) throw InputError("bitreverse needs an array with at least one axis");
    const int k = checked_axis(parse_int(*axis, "--axis"), in.extents.size());
    const int n = exact_lg(in.extents[static_cast<std::size_t>(k)],
                           request.input().path.string() + ": axis " + std::to_string(k));
    return schedule_options->work(request, mapping_along(in.shape(), k, bmmc::bit_reverse(n)), in.extents);
  });
  schedule_options->add_to(*command, "tiles|rounds|exchange");
}

}  // namespace xorder::cli
