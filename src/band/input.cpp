#include "band/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "work/resuming.hpp"
#include "xorder/error.hpp"

namespace xorder::band {
namespace {

bool has_shape_of(std::span<const Band> bands, const std::vector<std::uint64_t>& given) {
  std::vector<std::uint64_t> shape = extents(bands);
  if (given == shape) return true;
  if (bands.size() > 1) return false;
  shape.insert(shape.begin(), 1);
  return given == shape || given == std::vector{bands.front().places()};
}

void check_input(const io::ArrayFile& input, std::span<const Band> bands) {
  const io::ArrayDescription& array = input.description;
  if (!has_shape_of(bands, array.extents)) {
    throw InputError(fmt::format("{}: its shape ({}) is not that of {}, ({})", input.path.string(),
                                 fmt::join(array.extents, ", "),
                                 bands.size() == 1 ? "the band" : fmt::format("{} bands", bands.size()),
                                 fmt::join(extents(bands), ", ")));
  }
  work::check_c_order(input);
}

void check_inputs(std::span<const io::ArrayFile> inputs, std::span<const Band> bands) {
  check(bands);
  if (inputs.size() != 1 && inputs.size() != bands.size()) {
    throw InputError(
        fmt::format("{} files for {} banded matrices: one must hold all of them, or each of them one",
                    inputs.size(), bands.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_input(inputs[i], bands_in(i, inputs.size(), bands));
    const io::DType& first = inputs[0].description.dtype;
    if (const io::DType& other = inputs[i].description.dtype; other != first) {
      throw InputError(fmt::format("{}: its type is {}, that of {} is {}; all inputs must have the same type",
                                   inputs[i].path.string(), other.descr, inputs[0].path.string(),
                                   first.descr));
    }
  }
}

// Neighbours that are alike once.
std::string text_of(std::span<const Band> bands) {
  std::string text = "bands transposed:";
  for (std::size_t first = 0, next = 0; first < bands.size(); first = next) {
    const Band& b = bands[first];
    while (next < bands.size() && bands[next] == b) ++next;
    text += fmt::format(" {} x ({} {} {} {} {})", next - first, b.n, b.lower, b.upper, b.cyclic,
                        static_cast<int>(b.order));
  }
  return text;
}

}  // namespace

std::span<const Band> bands_in(std::size_t input, std::size_t inputs, std::span<const Band> bands) {
  return inputs == 1 ? bands : bands.subspan(input, 1);
}

work::Frame frame_of(std::vector<io::ArrayFile> inputs, std::span<const Band> bands,
                     std::filesystem::path output, work::Options options, std::uint64_t files) {
  check_inputs(inputs, bands);
  const io::ArrayDescription& first = inputs.front().description;
  const io::DType dtype = first.dtype;
  // The widths do not change.
  const std::vector<std::uint64_t> shape = inputs.size() == 1 ? first.extents : extents(bands);
  work::Frame frame = work::settle(std::move(inputs), std::move(output), dtype, shape, std::move(options),
                                   files * places(bands) * dtype.bytes);
  work::settle_journal(frame, text_of(bands));
  return frame;
}

}  // namespace xorder::band
