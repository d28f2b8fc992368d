// Permuting distributed arrays with libxorder_mpi, compared with an MPI_Alltoallv of the same bytes followed
// by a copy of each rank's part. The transposition is also compared with FFTW's MPI transposition, planned
// with FFTW_MEASURE.
//
//   mpiexec -n 2 build/bench/bench/mpi/mpi_bench [BYTES [REPEATS [SLICE [NAME [JSON]]]]]
//
// BYTES is the total size (default 2^30), a power of two. SLICE 0 means the default. NAME selects the cases
// whose name contains it; "exchange" is that of the rounds alone, by Sendrecv_replace, Sendrecv and Alltoallv. The
// three run in turn, after one run that is not counted. Times are those of the
// slowest rank, from barrier to barrier; ratios are to the Alltoallv and copy that ran next to it. JSON is a file
// for the results, which `xorder bench draw` and `compare` read.
#include <fftw3-mpi.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"
#include "schedule/rounds.hpp"
#include "text/json_text.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"
#include "xorder_mpi.h"

namespace {

using std::size_t;
using std::uint64_t;

int ranks = 1, rank = 0, repeats = 7;
uint64_t slice_bytes = 0;

void need(bool fine, const std::string& what) {
  if (fine) return;
  fmt::print(stderr, "mpi_bench: {}\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Memory in huge pages, touched once.
class Array {
 public:
  explicit Array(size_t bytes)
      : data_(static_cast<char*>(std::aligned_alloc(size_t{2} << 20, (bytes + (2 << 20) - 1) >> 21 << 21))) {
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes);
  }
  ~Array() { std::free(data_); }
  Array(const Array&) = delete;
  char* data() const { return data_; }

 private:
  char* data_;
};

double seconds(const std::function<void()>& run) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  run();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

const xorder::drawing::Axis seconds_axis{"time", xorder::drawing::Unit::seconds};

// It stays where it is until the next one is added.
xorder::cli::MeasuredFigure& add_figure(xorder::cli::Results& results, std::string id, std::string caption) {
  xorder::cli::MeasuredFigure& figure = results.figures.emplace_back();
  figure.id = std::move(id);
  figure.caption = std::move(caption);
  figure.values = seconds_axis;
  return figure;
}

struct Case {
  std::string name;
  xorder_mpi_plan* plan;
  uint64_t element_bytes;
  std::vector<uint64_t> sent, received;  // bytes to and from each rank
  uint64_t rows = 0, columns = 0;        // of doubles to be transposed; FFTW can do that
};

void measure(const Case& c, xorder::cli::Results& results) {
  const size_t bytes = xorder_mpi_plan_room(c.plan, rank) * c.element_bytes;
  const Array data(bytes), temp(bytes);
  xorder_mpi_options options{};
  options.size = sizeof options;
  options.slice_bytes = slice_bytes;
  const auto own = [&] {
    need(xorder_mpi_perform(c.plan, MPI_COMM_WORLD, c.element_bytes, data.data(), temp.data(), &options) ==
             XORDER_OK,
         xorder_mpi_last_error());
  };

  std::vector<int> counts[2], begins[2];
  for (int side = 0; side < 2; ++side) {
    uint64_t sum = 0;
    for (const uint64_t part : side == 0 ? c.sent : c.received) {
      counts[side].push_back(static_cast<int>(part / 8));  // doubles, so that the counts fit into an int
      begins[side].push_back(static_cast<int>(sum / 8));
      sum += part;
    }
    need(sum <= bytes, "more is sent than there is");
  }
  const auto baseline = [&] {
    MPI_Alltoallv(data.data(), counts[0].data(), begins[0].data(), MPI_DOUBLE, temp.data(), counts[1].data(),
                  begins[1].data(), MPI_DOUBLE, MPI_COMM_WORLD);
    std::memcpy(data.data(), temp.data(), bytes);
  };

  fftw_plan fftw = nullptr;
  if (c.rows != 0) {
    fftw = fftw_mpi_plan_transpose(
        static_cast<std::ptrdiff_t>(c.rows), static_cast<std::ptrdiff_t>(c.columns),
        reinterpret_cast<double*>(data.data()), reinterpret_cast<double*>(temp.data()), MPI_COMM_WORLD,
        FFTW_MEASURE | FFTW_DESTROY_INPUT);
    need(fftw != nullptr, "FFTW has no plan");
  }

  std::vector<double> times[3];
  for (int i = 0; i <= repeats; ++i) {
    const double t[] = {seconds(own), seconds(baseline), fftw ? seconds([&] { fftw_execute(fftw); }) : 0};
    for (int k = 0; i != 0 && k < 3; ++k) times[k].push_back(t[k]);
  }
  if (fftw) fftw_destroy_plan(fftw);
  if (rank != 0) return;
  const char* const names[] = {"xorder", "Alltoallv and copy", "FFTW"};
  const auto row = static_cast<double>(results.figures[0].rows.size());
  for (xorder::cli::MeasuredFigure& figure : results.figures) figure.rows.push_back(c.name);
  for (std::size_t k = 0; k < (fftw ? 3 : 2); ++k) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < times[k].size(); ++i) ratios.push_back(times[k][i] / times[1][i]);
    results.figures[0].points(names[k]).push_back({row, times[k]});
    if (k != 1) results.figures[1].points(names[k]).push_back({row, ratios});
  }
}

Case bmmc(const std::string& name, const xorder::gf2::AffineMap& map, uint64_t element_bytes,
          int lowest_rank_bit) {
  const int n = map.bits(), p = std::countr_zero(static_cast<unsigned>(ranks));
  Case c{name, nullptr, element_bytes, std::vector<uint64_t>(ranks), std::vector<uint64_t>(ranks)};
  need(xorder_mpi_plan_bmmc(&c.plan, n, map.matrix.columns().data(), map.complement, ranks,
                            lowest_rank_bit) == XORDER_OK,
       xorder_mpi_last_error());
  const xorder::schedule::Rounds rounds(map, p, lowest_rank_bit);
  for (uint64_t b = 0; b < rounds.steps(); ++b) {
    c.sent[rounds.target(rank, b)] += element_bytes << rounds.lg_chunk();
    c.received[rounds.source(rank, b)] += element_bytes << rounds.lg_chunk();
  }
  return c;
}

Case transposition(uint64_t rows, uint64_t columns) {
  Case c{fmt::format("transpose {} x {}", rows, columns), nullptr, 8, {}, {}, rows, columns};
  const uint64_t shape[] = {rows, columns};
  need(xorder_mpi_plan_axes(&c.plan, 2, shape, nullptr, ranks) == XORDER_OK, xorder_mpi_last_error());
  const auto count = [](uint64_t extent, int k) {
    return xorder_mpi_slab_begin(extent, ranks, k + 1) - xorder_mpi_slab_begin(extent, ranks, k);
  };
  for (int k = 0; k < ranks; ++k) {
    c.sent.push_back(8 * count(rows, rank) * count(columns, k));
    c.received.push_back(8 * count(rows, k) * count(columns, rank));
  }
  return c;
}

xorder::gf2::AffineMap random_map(int n) {
  std::uint64_t state = 42;
  for (;;) {
    std::vector<uint64_t> columns;
    for (int i = 0; i < n; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      columns.push_back((state ^ state >> 31) & xorder::gf2::low_mask(n));
    }
    xorder::gf2::BitMatrix matrix(n, columns);
    if (matrix.rank() == n) return {matrix, 5};
  }
}

void factoring(xorder::cli::Results& results) {
  const xorder::gf2::AffineMap map = random_map(40);
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const double begin = MPI_Wtime();
    xorder_mpi_plan* plan = nullptr;
    need(xorder_mpi_plan_bmmc(&plan, 40, map.matrix.columns().data(), map.complement, 1024, 30) == XORDER_OK,
         xorder_mpi_last_error());
    times.push_back(MPI_Wtime() - begin);
    xorder_mpi_plan_free(plan);
  }
  xorder::cli::MeasuredFigure& figure =
      add_figure(results, "factoring", "Factoring a random map for 1024 ranks.");
  figure.rows = {"n = 40"};
  figure.points("").push_back({0, times});
}

// Cormen's rounds alone, without the passes within ranks, in the three ways in which MPI can send them, over
// rank γ and the lowest bit f of the rank's number. The map trades bits of the rank's number for others, and
// negates the number. The rounds' chunks lie one behind the other.
void exchanges(int n, int p, xorder::cli::Results& results) {
  const char* const names[] = {"Sendrecv_replace", "Sendrecv", "Alltoallv"};
  xorder::cli::MeasuredFigure& figure = add_figure(
      results, "exchange",
      fmt::format("The rounds alone: {} MiB on each of {} ranks, whose number begins at bit f of an index.",
                  (size_t{8} << (n - p)) >> 20, ranks));
  const Array data(size_t{8} << (n - p)), temp(size_t{8} << (n - p));
  for (const int f : {0, (n - p) / 2, n - p}) {
    for (int r = 0; r <= std::min(p, (n - p) / 2); ++r) {
      std::vector<uint64_t> columns;
      for (int i = 0; i < n; ++i) columns.push_back(uint64_t{1} << i);
      for (int i = 0; i < r; ++i) std::swap(columns[f + i], columns[f >= r ? i : f + p + i]);
      const xorder::schedule::Rounds rounds({{n, columns}, xorder::gf2::low_mask(p) << f}, p, f);
      const int count = 1 << rounds.lg_chunk();
      std::vector<int> counts[2], begins[2];
      for (int side = 0; side < 2; ++side) {
        counts[side].resize(ranks), begins[side].resize(ranks);
        for (uint64_t b = 0; b < rounds.steps(); ++b) {
          const uint64_t other = side == 0 ? rounds.target(rank, b) : rounds.source(rank, b);
          counts[side][other] = count;
          begins[side][other] = static_cast<int>(b) * count;
        }
      }
      const auto in_rounds = [&](const auto& send) {
        for (uint64_t b = 0; b < rounds.steps(); ++b) {
          send((b << rounds.lg_chunk()) * sizeof(double), static_cast<int>(rounds.target(rank, b)),
               static_cast<int>(rounds.source(rank, b)));
        }
      };
      std::vector<double> times[3];
      for (int i = 0; i <= repeats; ++i) {
        const double t[] = {seconds([&] {
                              in_rounds([&](size_t at, int to, int from) {
                                MPI_Sendrecv_replace(data.data() + at, count, MPI_DOUBLE, to, 0, from, 0,
                                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                              });
                            }),
                            seconds([&] {
                              in_rounds([&](size_t at, int to, int from) {
                                MPI_Sendrecv(data.data() + at, count, MPI_DOUBLE, to, 0, temp.data() + at,
                                             count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                              });
                            }),
                            seconds([&] {
                              MPI_Alltoallv(data.data(), counts[0].data(), begins[0].data(), MPI_DOUBLE,
                                            temp.data(), counts[1].data(), begins[1].data(), MPI_DOUBLE,
                                            MPI_COMM_WORLD);
                            })};
        for (int k = 0; i != 0 && k < 3; ++k) times[k].push_back(t[k]);
      }
      const auto row = static_cast<double>(figure.rows.size());
      figure.rows.push_back(fmt::format("rank γ = {}, f = {}", r, f));
      for (int k = 0; k < 3; ++k) figure.points(names[k]).push_back({row, times[k]});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : uint64_t{1} << 30;
  if (argc > 2) repeats = std::atoi(argv[2]);
  if (argc > 3) slice_bytes = std::strtoull(argv[3], nullptr, 0);
  const std::string name = argc > 4 ? argv[4] : "";
  need(std::has_single_bit(bytes) && std::has_single_bit(static_cast<unsigned>(ranks)),
       "BYTES and the number of ranks must be powers of two");
  const int n = std::countr_zero(bytes) - 3, p = std::countr_zero(static_cast<unsigned>(ranks));
  xorder::cli::Results results = xorder::cli::new_results("mpi_bench");
  results.noise.rounds = static_cast<std::size_t>(repeats);
  const std::string of = fmt::format("{} MiB of 8-byte elements over {} ranks.", bytes >> 20, ranks);
  add_figure(results, "times", of);
  add_figure(results, "ratios", of + " Compared with the Alltoallv and copy.").values = {
      "of the time of Alltoallv and copy", xorder::drawing::Unit::ratio};
  factoring(results);
  const uint64_t rows = uint64_t{1} << (n + 1) / 2;
  for (const Case& c :
       {transposition(rows, (uint64_t{1} << n) / rows),
        transposition(rows * 3 / 4, (uint64_t{1} << n) / rows + ranks),
        bmmc("transpose as a map", xorder::bmmc::transpose((n + 1) / 2, n / 2), 8, n - p),
        bmmc("bit reversal", xorder::bmmc::bit_reverse(n), 8, n - p),
        bmmc("bit reversal, 16-byte elements", xorder::bmmc::bit_reverse(n - 1), 16, n - 1 - p),
        bmmc("bit reversal, processor-minor", xorder::bmmc::bit_reverse(n), 8, 0),
        bmmc("reversal", xorder::bmmc::reverse(n), 8, n - p),
        bmmc("Gray code", xorder::bmmc::gray(n), 8, n - p),
        bmmc("rotation by n-p", xorder::bmmc::rotate(n, n - p), 8, n - p),
        bmmc("random map", random_map(n), 8, n - p)}) {
    if (c.name.find(name) != std::string::npos) measure(c, results);
    xorder_mpi_plan_free(c.plan);
  }
  if (std::string("exchange").find(name) != std::string::npos) exchanges(n, p, results);
  if (rank == 0) {
    fmt::print("{}", xorder::cli::results_text(results));
    if (argc > 5)
      xorder::cli::write_text(argv[5], xorder::json_text(xorder::cli::results_json(results)), true);
  }
  fftw_mpi_cleanup();
  MPI_Finalize();
}
