#include "tiles/shift.hpp"

#include "work/frame.hpp"
#include "xorder/io/array_view.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::tiles {

std::unique_ptr<work::Work> shift(const io::ArrayFile& input, std::uint64_t distance,
                                  std::filesystem::path output, work::Options options) {
  work::check_c_order(input);
  const io::ArrayDescription& in = input.description;
  const std::uint64_t count = in.elements();
  io::ArrayFile first = input, last = input;
  first.description = last.description = io::reshaped(in, {count}, {});
  first.description.extents = {count - distance};
  last.description.extents = {distance};
  last.description.offset += (count - distance) * in.dtype.bytes;
  const Reordering as_it_is{in.dtype.bytes, {count}, {0}, std::nullopt, {}};
  return std::make_unique<Job>(std::vector{std::move(last), std::move(first)}, as_it_is, in.extents,
                               std::move(output), std::move(options));
}

}  // namespace xorder::tiles
