#include "band_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "arguments.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

// As BandOrder has them.
const std::vector<std::string> names{"columns", "rows", "diagonals", "row-diagonals"};

}  // namespace

void BandStorageOptions::add_to(CLI::App& command) {
  if (session().team != nullptr) return;  // only the tile engine works in a team
  CLI::Option* const banded =
      command
          .add_option(
              "--banded", bandwidths,
              "IN is the band storage of a square matrix with KL diagonals below the main one and KU above; "
              "OUT is that of its transposition, KU below and KL above")
          ->type_name("KL,KU")
          ->group(group::task);
  command.add_flag("--cyclic", cyclic, "the band wraps around the corners: indices are modulo N")
      ->needs(banded)
      ->group(group::task);
  command
      .add_option("--band-order", order,
                  "columns: shape (N, KL+KU+1), [j, k] is a[j-KU+k, j]; rows: the same shape, [i, k] is "
                  "a[i, i-KL+k], as in row-major CBLAS; diagonals: (KL+KU+1, N), SciPy's and LAPACK's "
                  "ab[KU+i-j, j]; row-diagonals: the same shape, [k, i] is a[i, i-KL+k]; default: columns")
      ->check(CLI::IsMember(names).description(""))
      ->type_name(fmt::format("{}", fmt::join(names, "|")))
      ->needs(banded)
      ->group(group::task);
}

Band BandStorageOptions::band(const io::ArrayFile& file) const {
  const std::vector<int> given = parse_ints(bandwidths, "--banded");
  if (given.size() != 2 || given[0] < 0 || given[1] < 0)
    throw InputError(
        fmt::format("--banded: '{}' is not two numbers KL,KU of diagonals, 0 or more", bandwidths));
  Band band{.lower = static_cast<std::uint64_t>(given[0]),
            .upper = static_cast<std::uint64_t>(given[1]),
            .cyclic = cyclic,
            .order = static_cast<BandOrder>(std::ranges::find(names, order) - names.begin())};
  const bool columns = !band.of_diagonals();
  const std::vector<std::uint64_t>& extents = file.description.extents;
  if (extents.size() != 2 || extents[columns ? 1 : 0] != band.width()) {
    throw InputError(fmt::format("{}: its shape ({}) is not {}; {} + {} + 1 diagonals are {}",
                                 file.path.string(), fmt::join(extents, ", "),
                                 columns ? "(N, KL+KU+1)" : "(KL+KU+1, N)", band.lower, band.upper,
                                 band.width()));
  }
  band.n = extents[columns ? 0 : 1];
  // The library takes B = N too; as a command it is more likely a mistake than a matrix that is all band.
  if (band.width() >= band.n && !(band.width() == 1 && band.n == 1)) {
    throw InputError(
        fmt::format("{}: a band of {} + {} + 1 diagonals is not narrower than its matrix, {} x {}",
                    file.path.string(), band.lower, band.upper, band.n, band.n));
  }
  return band;
}

}  // namespace xorder::cli
