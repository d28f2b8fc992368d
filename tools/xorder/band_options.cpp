#include "band_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "arguments.hpp"
#include "checked_option.hpp"
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
std::string shape_text(std::span<const Band> bands, bool batch) {
  const std::string one = bands[0].of_diagonals() ? "(KL+KU+1, N)" : "(N, KL+KU+1)";
  return batch ? fmt::format("({}, {}", bands.size(), one.substr(1)) : one;
}

// N, from the shape of one band or, if an axis counts matrices, of several that are equally wide.
std::uint64_t columns_of(const io::ArrayFile& file, std::span<const Band> bands, bool batch) {
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

// N, for bands that differ in width and lie on one axis, or for one of them.
std::uint64_t columns_on_axis(const io::ArrayFile& file, std::span<const Band> bands) {
  std::uint64_t width = 0;
  for (const Band& band : bands) width += band.width();
  const std::vector<std::uint64_t>& extents = file.description.extents;
  if (extents.size() != 1 || extents[0] % width != 0) {
    const std::string several = fmt::format("{} bands that differ in width, ", bands.size());
    throw InputError(fmt::format("{}: its shape ({}) is not (N*{}): {}{} diagonals on one axis",
                                 file.path.string(), fmt::join(extents, ", "), width,
                                 bands.size() == 1 ? "" : several, width));
  }
  return extents[0] / width;
}

bool equally_wide(std::span<const Band> bands) {
  return std::ranges::all_of(bands, [&](const Band& band) { return band.width() == bands[0].width(); });
}

void check_narrow(const Band& band, const io::ArrayFile& file) {
  // The library also accepts B = N; on the command line that is more likely a mistake than a full matrix.
  if (band.width() < band.n || (band.width() == 1 && band.n == 1)) return;
  throw InputError(fmt::format("{}: a band of {} + {} + 1 diagonals is not narrower than its matrix, {} x {}",
                               file.path.string(), band.lower, band.upper, band.n, band.n));
}

// The matrices of one --banded.
void repeat(std::vector<Band>& bands, std::uint64_t count, std::span<const io::ArrayFile> files) {
  const std::vector<std::uint64_t>& extents = files[0].description.extents;
  if (bands.size() > 1) throw InputError("use --matrices or several --banded, not both");
  if (files.size() > 1) throw InputError("--matrices: takes one IN; several hold one matrix each");
  if (count > most_matrices)
    throw InputError(fmt::format("--matrices: {} is more than {}", count, most_matrices));
  if (extents.empty() || extents[0] != count) {
    throw InputError(fmt::format("{}: its shape ({}) does not begin with --matrices {}",
                                 files[0].path.string(), fmt::join(extents, ", "), count));
  }
  bands.resize(count, bands.front());
}

// Sets N of the bands that have a file each. If they differ in width, a file may have one axis: several raw
// files have one --shape.
void set_columns(std::span<Band> bands, std::span<const io::ArrayFile> files) {
  const bool differ = !equally_wide(bands);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool on_axis = differ && files[i].description.extents.size() == 1;
    const std::span<const Band> one = bands.subspan(i, 1);
    const std::uint64_t n = on_axis ? columns_on_axis(files[i], one) : columns_of(files[i], one, false);
    bands[i].n = n;
    check_narrow(bands[i], files[i]);
    if (n != bands[0].n) {
      throw InputError(
          fmt::format("{}: its matrix is {} x {}, that of {} {} x {}; all must have the same size",
                      files[i].path.string(), n, n, files[0].path.string(), bands[0].n, bands[0].n));
    }
  }
}

}  // namespace

CLI::Option* BandStorageOptions::add_to(CLI::App& command) {
  if (session().team != nullptr) return nullptr;  // only the tile engine works in a team
  CLI::Option* const banded =
      command
          .add_option(
              "--banded", bandwidths,
              "IN is the band storage of a square matrix with KL diagonals below the main one and KU above; "
              "OUT is that of its transpose. Given several times: IN holds such matrices of one size, one "
              "after another, and so does OUT; on one axis, unless equally wide. Several IN hold one each")
          ->type_name("KL,KU")
          ->allow_extra_args(false)
          ->group(group::task);
  command
      .add_option("--matrices", matrices,
                  "IN holds K matrices with the same --banded, counted by an additional first axis")
      ->type_name("K")
      ->needs(banded)
      ->group(group::bands);
  command.add_flag("--cyclic", cyclic, "the band wraps around the corners: indices are modulo N")
      ->needs(banded)
      ->group(group::bands);
  add_choice(command, "--band-order", order, band_orders,
             "columns: shape (N, KL+KU+1), [j, k] is a[j-KU+k, j]; rows: the same shape, [i, k] is a[i, "
             "i-KL+k], as in row-major CBLAS; diagonals: (KL+KU+1, N), SciPy's and LAPACK's ab[KU+i-j, "
             "j]; row-diagonals: the same shape, [k, i] is a[i, i-KL+k]; default: columns")
      ->needs(banded)
      ->group(group::bands);
  return banded;
}

std::vector<Band> BandStorageOptions::bands(std::span<const io::ArrayFile> files) const {
  std::vector<Band> all;
  for (const std::string& each : bandwidths) all.push_back(parsed(each, order, cyclic));
  if (!matrices.empty()) repeat(all, parse_count(matrices, "--matrices"), files);
  if (files.size() == 1) {
    const bool batch = !matrices.empty() || all.size() > 1;
    const std::uint64_t n =
        equally_wide(all) ? columns_of(files[0], all, batch) : columns_on_axis(files[0], all);
    for (Band& band : all) {
      band.n = n;
      check_narrow(band, files[0]);
    }
    return all;
  }
  if (all.size() == 1) all.resize(files.size(), all.front());
  if (all.size() != files.size()) {
    throw InputError(fmt::format("--banded: given {} times for {} files; give it once, or once for each",
                                 all.size(), files.size()));
  }
  set_columns(all, files);
  return all;
}

}  // namespace xorder::cli
