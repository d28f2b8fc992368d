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

// In the order of BandOrder.
const std::vector<std::string> band_orders{"columns", "rows", "diagonals", "row-diagonals"};

// A limit, because each matrix is planned separately.
constexpr std::uint64_t most_matrices = 65536;

// The band of one --banded; the number of columns is not known yet.
Band parsed(const std::string& bandwidths, const std::string& order, bool cyclic) {
  const std::vector<int> given = parse_ints(bandwidths, "--banded");
  if (given.size() != 2 || given[0] < 0 || given[1] < 0)
    throw InputError(
        fmt::format("--banded: '{}' is not two numbers KL,KU of diagonals, 0 or more", bandwidths));
  return {.lower = static_cast<std::uint64_t>(given[0]),
          .upper = static_cast<std::uint64_t>(given[1]),
          .cyclic = cyclic,
          .order = static_cast<BandOrder>(std::ranges::find(band_orders, order) - band_orders.begin())};
}

// The expected shape, as far as it is known.
std::string shape_text(const std::vector<Band>& bands, bool batch) {
  const std::string one = bands[0].of_diagonals() ? "(KL+KU+1, N)" : "(N, KL+KU+1)";
  return batch ? fmt::format("({}, {}", bands.size(), one.substr(1)) : one;
}

// N, from the shape of one band or, if an axis counts matrices, of several that are equally wide.
std::uint64_t columns_of(const io::ArrayFile& file, const std::vector<Band>& bands, bool batch) {
  const Band& band = bands[0];
  const std::vector<std::uint64_t>& extents = file.description.extents;
  const std::size_t first = batch ? 1 : 0;  // of the two axes
  const std::size_t columns = first + (band.of_diagonals() ? 1 : 0);
  const std::size_t diagonals = first + (band.of_diagonals() ? 0 : 1);
  if (extents.size() != first + 2 || extents[diagonals] != band.width() ||
      (batch && extents[0] != bands.size())) {
    throw InputError(fmt::format("{}: its shape ({}) is not {}; {} + {} + 1 diagonals are {}",
                                 file.path.string(), fmt::join(extents, ", "), shape_text(bands, batch),
                                 band.lower, band.upper, band.width()));
  }
  return extents[columns];
}

// N, for several bands that differ in width and lie on one axis.
std::uint64_t columns_on_axis(const io::ArrayFile& file, const std::vector<Band>& bands) {
  std::uint64_t width = 0;
  for (const Band& band : bands) width += band.width();
  const std::vector<std::uint64_t>& extents = file.description.extents;
  if (extents.size() != 1 || extents[0] % width != 0) {
    throw InputError(
        fmt::format("{}: its shape ({}) is not (N*{}): {} bands that differ in width, {} diagonals together, "
                    "one after another on one axis",
                    file.path.string(), fmt::join(extents, ", "), width, bands.size(), width));
  }
  return extents[0] / width;
}

}  // namespace

void BandStorageOptions::add_to(CLI::App& command) {
  if (session().team != nullptr) return;  // only the tile engine works in a team
  CLI::Option* const banded =
      command
          .add_option(
              "--banded", bandwidths,
              "IN is the band storage of a square matrix with KL diagonals below the main one and KU above; "
              "OUT is that of its transpose, KU below and KL above. Given several times: IN holds such "
              "matrices of one size, one after another, and so does OUT; on one axis, unless they are "
              "equally wide")
          ->type_name("KL,KU")
          ->allow_extra_args(false)
          ->group(group::task);
  command
      .add_option("--matrices", matrices,
                  "IN holds K matrices with the same --banded, counted by an additional first axis")
      ->type_name("K")
      ->needs(banded)
      ->group(group::task);
  command.add_flag("--cyclic", cyclic, "the band wraps around the corners: indices are modulo N")
      ->needs(banded)
      ->group(group::task);
  command
      .add_option("--band-order", order,
                  "columns: shape (N, KL+KU+1), [j, k] is a[j-KU+k, j]; rows: the same shape, [i, k] is a[i, "
                  "i-KL+k], as in row-major CBLAS; diagonals: (KL+KU+1, N), SciPy's and LAPACK's ab[KU+i-j, "
                  "j]; row-diagonals: the same shape, [k, i] is a[i, i-KL+k]; default: columns")
      ->check(CLI::IsMember(band_orders).description(""))
      ->type_name(fmt::format("{}", fmt::join(band_orders, "|")))
      ->needs(banded)
      ->group(group::task);
}

std::vector<Band> BandStorageOptions::bands(const io::ArrayFile& file) const {
  std::vector<Band> all;
  for (const std::string& each : bandwidths) all.push_back(parsed(each, order, cyclic));
  if (!matrices.empty()) {
    const std::uint64_t count = parse_count(matrices, "--matrices");
    if (all.size() > 1)
      throw InputError("--matrices: takes one --banded; several of them count the matrices themselves");
    if (count > most_matrices)
      throw InputError(fmt::format("--matrices: {} is more than {}", count, most_matrices));
    if (file.description.extents.empty() || file.description.extents[0] != count) {
      throw InputError(fmt::format("{}: its shape ({}) does not begin with --matrices {}", file.path.string(),
                                   fmt::join(file.description.extents, ", "), count));
    }
    all.resize(count, all.front());
  }
  const bool batch = !matrices.empty() || all.size() > 1;
  const bool equal = std::ranges::all_of(all, [&](const Band& b) { return b.width() == all[0].width(); });
  const std::uint64_t n = equal ? columns_of(file, all, batch) : columns_on_axis(file, all);
  for (Band& band : all) {
    band.n = n;
    // The library also accepts B = N; on the command line that is more likely a mistake than a full matrix.
    if (band.width() >= n && !(band.width() == 1 && n == 1)) {
      throw InputError(
          fmt::format("{}: a band of {} + {} + 1 diagonals is not narrower than its matrix, {} x {}",
                      file.path.string(), band.lower, band.upper, n, n));
    }
  }
  return all;
}

}  // namespace xorder::cli
