#include "band/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "xorder/error.hpp"

namespace xorder::band {

void check_input(const io::ArrayFile& input, std::span<const Band> bands) {
  check(bands);
  const io::ArrayDescription& array = input.description;
  const std::vector<std::uint64_t> shape = extents(bands);
  std::vector<std::uint64_t> one = shape;
  if (bands.size() == 1) one.insert(one.begin(), 1);
  if (array.extents != shape && array.extents != one) {
    throw InputError(fmt::format(
        "{}: its shape ({}) is not that of {}, ({})", input.path.string(), fmt::join(array.extents, ", "),
        bands.size() == 1 ? "the band" : fmt::format("{} bands", bands.size()), fmt::join(shape, ", ")));
  }
  // An array with at most one axis longer than 1 has the same file in both orders.
  if (array.order == Order::fortran &&
      std::ranges::count_if(array.extents, [](auto e) { return e > 1; }) > 1) {
    throw InputError(
        fmt::format("{}: it is in Fortran order; a band must be in C order, as `transpose --axes 0,1` "
                    "stores it",
                    input.path.string()));
  }
}

}  // namespace xorder::band
