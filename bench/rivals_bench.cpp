// Reordering axes in memory beside the libraries that do it too.
//
//   build/bench/bench/rivals_bench [--bytes N] [--threads N] [--rounds N] [--only TEXT] [--cpu] [--json FILE]
//                                  [--html FILE]
//
// The rivals are those that were found when this was configured: Debian's libopenblas-dev, libfftw3-dev,
// libeigen3-dev and python3-numpy (with python3-dev), and HPTT (Springer, Su, Bientinesi, ARRAY 2017), which Debian
// does not have. Build HPTT outside this folder, as its own documentation says, and name its folder:
//
//   git clone https://github.com/springer13/hptt && make -C hptt CXX=g++ avx      (a quarter of an hour)
//   cmake --preset bench -DXORDER_HPTT=$PWD/hptt && cmake --build --preset bench --target rivals_bench
//
// Each row measures a parallel memcpy and then everybody in turn, round after round. Results are compared with
// xorder's before anything is timed, so that all do the same work. What a library cannot do, or did wrong, which
// is said, is left out: OpenBLAS and Eigen transpose matrices
// only, and elements have the sizes of floating-point numbers. OpenBLAS, FFTW, Eigen and NumPy use one thread for this.
#include <fmt/format.h>

#include <complex>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "bench/memory.hpp"
#include "checked_option.hpp"
#include "xorder/memory/permute.hpp"

#ifdef HAS_HPTT
#include <hptt.h>
#endif
#ifdef HAS_OPENBLAS
#include <cblas.h>
#endif
#ifdef HAS_FFTW3
#include <fftw3.h>
#endif
#ifdef HAS_EIGEN3
#include <Eigen/Core>
#endif
#ifdef HAS_NUMPY
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#endif

namespace {

using namespace xorder;
using std::uint64_t;

// Does the work of one row. Null: the library cannot.
using Run = std::function<void()>;
struct Rival {
  std::string name;
  std::function<Run(const Reordering&, std::byte* source, std::byte* target, unsigned threads)> prepare;
};

[[maybe_unused]] bool is_matrix(const Reordering& r) {
  return r.extents.size() == 2 && r.order == std::vector{1, 0};
}

#ifdef HAS_HPTT
// HPTT's layout is column-major: the axes in reverse.
template <class Number>
Run hptt_run(const Reordering& r, std::byte* source, std::byte* target, unsigned threads,
             hptt::SelectionMethod planning) {
  const int rank = static_cast<int>(r.extents.size());
  std::vector<int> sizes(r.extents.rbegin(), r.extents.rend()), order;
  for (int i = rank; i-- > 0;) order.push_back(rank - 1 - r.order[static_cast<std::size_t>(i)]);
  auto plan = hptt::create_plan(order.data(), rank, Number(1), reinterpret_cast<const Number*>(source),
                                sizes.data(), nullptr, Number(0), reinterpret_cast<Number*>(target), nullptr,
                                planning, static_cast<int>(threads));
  return [plan] { plan->execute(); };
}
// A plan by its model, or by measuring. (Measured plans gave wrong elements for four axes of 44 to 46.)
template <hptt::SelectionMethod planning>
Run hptt_by(const Reordering& r, std::byte* source, std::byte* target, unsigned threads) {
  switch (r.element_bytes) {
    case 4:
      return hptt_run<float>(r, source, target, threads, planning);
    case 8:
      return hptt_run<double>(r, source, target, threads, planning);
    case 16:
      return hptt_run<hptt::DoubleComplex>(r, source, target, threads, planning);
    default:
      return nullptr;
  }
}
#endif

#ifdef HAS_OPENBLAS
Run openblas(const Reordering& r, std::byte* source, std::byte* target, unsigned) {
  if (!is_matrix(r)) return nullptr;
  const auto rows = static_cast<blasint>(r.extents[0]), columns = static_cast<blasint>(r.extents[1]);
  switch (r.element_bytes) {
    case 4:
      return [=, from = reinterpret_cast<const float*>(source), to = reinterpret_cast<float*>(target)] {
        cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
      };
    case 8:
      return [=, from = reinterpret_cast<const double*>(source), to = reinterpret_cast<double*>(target)] {
        cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
      };
    case 16:
      return [=, from = reinterpret_cast<const double*>(source), to = reinterpret_cast<double*>(target)] {
        constexpr double one[] = {1, 0};
        cblas_zomatcopy(CblasRowMajor, CblasTrans, rows, columns, one, from, columns, to, rows);
      };
    default:
      return nullptr;
  }
}
#endif

#ifdef HAS_FFTW3
// A transform of rank 0 only reorders. Planned by measuring, for at most ten seconds: four axes would take minutes.
Run fftw(const Reordering& r, std::byte* source, std::byte* target, unsigned) {
  if (r.element_bytes != 8 && r.element_bytes != 16) return nullptr;
  const std::size_t rank = r.extents.size();
  std::vector<fftw_iodim64> dims(rank);
  std::ptrdiff_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0; stride *= static_cast<std::ptrdiff_t>(r.extents[axis]))
    dims[axis] = {static_cast<std::ptrdiff_t>(r.extents[axis]), stride, 0};
  stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    fftw_iodim64& dim = dims[static_cast<std::size_t>(r.order[i])];
    dim.os = stride;
    stride *= dim.n;
  }
  auto* const from = reinterpret_cast<double*>(source);
  auto* const to = reinterpret_cast<double*>(target);
  fftw_set_timelimit(10);
  const fftw_plan plan =
      r.element_bytes == 8
          ? fftw_plan_guru64_r2r(0, nullptr, static_cast<int>(rank), dims.data(), from, to, nullptr,
                                 FFTW_MEASURE)
          : fftw_plan_guru64_dft(0, nullptr, static_cast<int>(rank), dims.data(),
                                 reinterpret_cast<fftw_complex*>(from), reinterpret_cast<fftw_complex*>(to),
                                 FFTW_FORWARD, FFTW_MEASURE);
  if (plan == nullptr) return nullptr;
  return [owner = std::shared_ptr<fftw_plan_s>(plan, fftw_destroy_plan)] { fftw_execute(owner.get()); };
}
#endif

#ifdef HAS_EIGEN3
template <class Number>
Run eigen_run(const Reordering& r, std::byte* source, std::byte* target) {
  using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(r.extents[0]),
             columns = static_cast<Eigen::Index>(r.extents[1]);
  return [=, from = reinterpret_cast<const Number*>(source), to = reinterpret_cast<Number*>(target)] {
    Eigen::Map<Matrix>(to, columns, rows).noalias() =
        Eigen::Map<const Matrix>(from, rows, columns).transpose();
  };
}
Run eigen(const Reordering& r, std::byte* source, std::byte* target, unsigned) {
  if (!is_matrix(r)) return nullptr;
  switch (r.element_bytes) {
    case 1:
      return eigen_run<std::uint8_t>(r, source, target);
    case 2:
      return eigen_run<std::uint16_t>(r, source, target);
    case 4:
      return eigen_run<float>(r, source, target);
    case 8:
      return eigen_run<double>(r, source, target);
    case 16:
      return eigen_run<std::complex<double>>(r, source, target);
    default:
      return nullptr;
  }
}
#endif

#ifdef HAS_NUMPY
// Copies a transposed view, as np.copyto(target, source.transpose(order)) does.
Run numpy(const Reordering& r, std::byte* source, std::byte* target, unsigned) {
  static const bool ready = [] {
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    PyConfig_SetString(&config, &config.home, PYTHON_HOME);
    const bool initialised = PyStatus_Exception(Py_InitializeFromConfig(&config)) == 0;
    PyConfig_Clear(&config);
    return initialised && _import_array() == 0;
  }();
  const auto type = [&] {
    switch (r.element_bytes) {
      case 1:
        return NPY_UINT8;
      case 2:
        return NPY_UINT16;
      case 4:
        return NPY_FLOAT;
      case 8:
        return NPY_DOUBLE;
      case 16:
        return NPY_CDOUBLE;
      default:
        return NPY_NOTYPE;
    }
  }();
  if (!ready || type == NPY_NOTYPE) return nullptr;
  const int rank = static_cast<int>(r.extents.size());
  std::vector<npy_intp> extents(r.extents.begin(), r.extents.end()), order(r.order.begin(), r.order.end()),
      moved;
  for (const npy_intp axis : order) moved.push_back(extents[static_cast<std::size_t>(axis)]);
  const auto array = [&](std::vector<npy_intp>& shape, std::byte* memory) {
    return reinterpret_cast<PyArrayObject*>(PyArray_SimpleNewFromData(rank, shape.data(), type, memory));
  };
  PyArray_Dims axes{order.data(), rank};
  PyArrayObject* const to = array(moved, target);
  auto* const from = reinterpret_cast<PyArrayObject*>(PyArray_Transpose(array(extents, source), &axes));
  return [=] { PyArray_CopyInto(to, from); };
}
#endif

Run xorder_itself(const Reordering& r, std::byte* source, std::byte* target, unsigned threads) {
  return [plan = std::make_shared<memory::InMemoryPlan>(r), from = source, to = target, threads] {
    plan->execute(from, to, threads);
  };
}

const std::vector<Rival> everybody = {
    {"xorder", xorder_itself},
#ifdef HAS_HPTT
    {"HPTT", hptt_by<hptt::ESTIMATE>},
    {"measured", hptt_by<hptt::MEASURE>},
#endif
#ifdef HAS_OPENBLAS
    {"OpenBLAS", openblas},
#endif
#ifdef HAS_FFTW3
    {"FFTW", fftw},
#endif
#ifdef HAS_EIGEN3
    {"Eigen", eigen},
#endif
#ifdef HAS_NUMPY
    {"NumPy", numpy},
#endif
};

// Numbers that are no NaNs in any type, so that those who copy them as numbers keep their bits.
void fill(std::byte* array, uint64_t bytes) {
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < bytes; ++i) array[i] = static_cast<std::byte>(random() & 0x3F);
}

struct Options : cli::TestArrays::Options {
  std::string bytes = "256M", only;
  std::uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
};

class Rivals final : public cli::Benchmark {
 public:
  explicit Rivals(const Options& options)
      : options_(options),
        bytes_(cli::parse_memory(options.bytes, "--bytes")),
        arrays_(bytes_, options),
        right_(bytes_) {}

  std::vector<cli::Case> cases(cli::Results& results) override {
    results.figures = {
        {"speed",
         fmt::format("Axis permutations, {} threads: bytes of the array per second. The rows are "
                     "called by the bytes of an element.",
                     options_.threads),
         {},
         {"payload", drawing::Unit::bytes_per_second}}};
    for (const uint64_t w : {1, 2, 4, 8, 16}) {
      for (const cli::MemoryFamily& family : cli::memory_families(bytes_, w)) {
        const std::string name = fmt::format("{} {}", family.key, w);
        if (family.what.mapped || name.find(options_.only) == std::string::npos) continue;
        add(name, family.what, static_cast<double>(results.figures[0].rows.size()));
        results.figures[0].rows.push_back(name);
      }
    }
    fill(arrays_.source(), bytes_);  // plans that are measured overwrite the arrays
    return std::move(cases_);
  }

 private:
  unsigned threads() const { return static_cast<unsigned>(options_.threads); }
  void add(const std::string& name, const Reordering& what, double row) {
    const uint64_t bytes = what.bytes();
    const auto add_case = [&](const std::string& series, const std::function<double()>& seconds) {
      cases_.push_back({fmt::format("{}, {}", name, series),
                        [=] { return static_cast<double>(bytes) / seconds(); }, 0, series, row});
    };
    add_case("memcpy", [=, this] { return arrays_.copy_seconds(bytes, false, threads()); });
    std::vector<Run> runs;
    for (const Rival& rival : everybody)
      runs.push_back(rival.prepare(what, arrays_.source(), arrays_.target(), threads()));
    fill(arrays_.source(), bytes);
    memory::permute(what, arrays_.source(), right_.data());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i]) continue;
      std::memset(arrays_.target(), 0xA5, bytes);
      runs[i]();
      if (std::memcmp(arrays_.target(), right_.data(), bytes) == 0) {
        add_case(everybody[i].name, [this, bytes, run = runs[i]] { return arrays_.seconds(bytes, run); });
      } else {
        fmt::print("{}: {} gives another result\n", name, everybody[i].name);
      }
    }
  }

  Options options_;
  uint64_t bytes_;
  cli::TestArrays arrays_;
  io::BlockMemory right_;
  std::vector<cli::Case> cases_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = std::make_shared<Options>();
  return cli::benchmark_program(
      argc, argv,
      {.name = "rivals_bench",
       .summary = "",
       .description = "Reorders axes in memory beside the libraries that do it too.",
       .footer = "",
       .add_options =
           [options](CLI::App& app) {
             app.add_option("--bytes", options->bytes, "size of an array; default: 256M");
             cli::add_number(app, "--threads", options->threads, "number of threads");
             app.add_option("--only", options->only, "rows whose name contains this");
             app.add_flag("--cpu", options->processor_time, "processor time of all threads");
           },
       .make = [options](const cli::Extent&) { return std::make_unique<Rivals>(*options); }});
}
