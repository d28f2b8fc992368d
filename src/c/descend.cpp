// Jobs that compute: prefix sums, shifts, merges, tridiagonal systems, and C's own function.
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "c/border.hpp"
#include "c/job.hpp"
#include "c/layout.hpp"
#include "c/options.hpp"
#include "tiles/shift.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::c {
namespace {

// A computation by C's function, of either type.
class StepByFunction final : public descend::Computation {
 public:
  StepByFunction(bool ascends, std::size_t record_bytes, xorder_step_function function,
                 xorder_checked_step_function checked, void* user)
      : Computation(ascends ? descend::Direction::ascend : descend::Direction::descend, record_bytes),
        function_(function),
        checked_(checked),
        user_(user) {}

  void step(int b, std::uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    if (function_ != nullptr)
      function_(b, first, count, x, plus, minus, out, user_);
    else if (!failed_ && checked_(b, first, count, x, plus, minus, out, user_) != 0)
      failed_ = true;
  }
  void check() override {
    if (failed_) throw Cancelled();
  }

 private:
  xorder_step_function function_;
  xorder_checked_step_function checked_;
  void* user_;
  std::atomic<bool> failed_ = false;
};

using What = std::unique_ptr<descend::Computation>;

// The result has the type of the last input.
std::unique_ptr<xorder_job> computing(std::vector<io::ArrayFile> inputs, What what,
                                      std::vector<std::uint64_t> extents, const char* output,
                                      const xorder_options* options) {
  require(output, "output");
  const io::DType element = inputs.back().description.dtype;
  return std::make_unique<xorder_job>(std::make_unique<descend::DescendJob>(
      std::move(inputs), std::move(what), element, std::move(extents), output, job_options(options)));
}

}  // namespace
}  // namespace xorder::c

using namespace xorder::c;

int xorder_job_descend(xorder_job** out, int ascends, xorder_step_function step, void* user,
                       const char* input, const char* output, const xorder_options* options) {
  return made(out, [&] {
    if (step == nullptr) throw ArgumentError("step is NULL");
    require(input, "input");
    require(output, "output");
    const auto file = xorder::io::open_array(input, {});
    const auto& array = file.description;
    return computing({file},
                     std::make_unique<StepByFunction>(ascends != 0, array.dtype.bytes, step, nullptr, user),
                     array.extents, output, options);
  });
}

int xorder_job_compute(xorder_job** out, int ascends, xorder_checked_step_function step, void* user,
                       const xorder_layout* input, const char* output, const xorder_options* options) {
  return made(out, [&] {
    if (step == nullptr) throw ArgumentError("step is NULL");
    require(input, "input");
    const auto& array = input->array.description;
    return computing({input->array},
                     std::make_unique<StepByFunction>(ascends != 0, array.dtype.bytes, nullptr, step, user),
                     array.extents, output, options);
  });
}

int xorder_job_scan(xorder_job** out, const char* operation, const xorder_layout* input, const char* output,
                    const xorder_options* options) {
  return made(out, [&] {
    require(operation, "operation");
    require(input, "input");
    const auto& array = input->array.description;
    return computing({input->array}, xorder::descend::prefix(array.dtype, operation), {array.elements()},
                     output, options);
  });
}

int xorder_job_shift(xorder_job** out, int64_t distance, const xorder_layout* input, const char* output,
                     const xorder_options* options) {
  return made(out, [&] {
    require(input, "input");
    require(output, "output");
    const auto count = static_cast<int64_t>(input->array.description.elements());
    const int64_t within = count == 0 ? 0 : (distance % count + count) % count;
    return std::make_unique<xorder_job>(
        xorder::tiles::shift(input->array, static_cast<uint64_t>(within), output, job_options(options)));
  });
}

int xorder_job_merge(xorder_job** out, const xorder_layout* input, const char* output,
                     const xorder_options* options) {
  return made(out, [&] {
    require(input, "input");
    const auto& array = input->array.description;
    return computing(
        {input->array},
        xorder::descend::odd_even_merge(array.dtype, input->array.path.string(), array.elements()),
        {array.elements()}, output, options);
  });
}

int xorder_job_tridiagonal(xorder_job** out, const xorder_layout* const* inputs, const char* output,
                           const xorder_options* options) {
  return made(out, [&] {
    require(inputs, "inputs");
    std::array<xorder::io::ArrayFile, 4> files;
    for (std::size_t i = 0; i < files.size(); ++i) {
      require(inputs[i], "an input");
      files[i] = inputs[i]->array;
    }
    return computing({files.begin(), files.end()}, xorder::descend::cyclic_reduction(files),
                     files[3].description.extents, output, options);
  });
}
