#include "band/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "xorder/error.hpp"

namespace xorder::band {

void check_input(const io::ArrayFile& input, const Band& band) {
  check(band);
  const io::ArrayDescription& array = input.description;
  if (array.extents != band.extents()) {
    throw InputError(fmt::format("{}: its shape ({}) is not that of the band, ({})", input.path.string(),
                                 fmt::join(array.extents, ", "), fmt::join(band.extents(), ", ")));
  }
  // One row or column lies in its file in the same way in both orders.
  if (array.order == Order::fortran && band.width() > 1 && band.n > 1) {
    throw InputError(
        fmt::format("{}: it is in Fortran order; a band must be in C order, as `transpose --axes 0,1` "
                    "stores it",
                    input.path.string()));
  }
}

}  // namespace xorder::band
