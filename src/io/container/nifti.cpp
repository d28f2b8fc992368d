// NIfTI-1 and NIfTI-2: a header of 348 or 540 bytes in either byte order, and an array in Fortran order
// behind it and its extensions, or in a file of its own.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "io/container/container.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

// Where a version's header has what is needed here, and how many bytes its numbers take.
struct NiftiLayout {
  std::size_t bytes;
  std::size_t magic, type, extents, extent_bytes, offset, slope, real_bytes;
};
constexpr NiftiLayout nifti_1{348, 344, 70, 40, 2, 108, 112, 4}, nifti_2{540, 4, 12, 16, 8, 168, 176, 8};

constexpr std::pair<std::uint64_t, const char*> nifti_types[] = {
    {2, "u1"},   {4, "i2"},   {8, "i4"},    {16, "f4"},   {32, "c8"},    {64, "f8"},    {256, "i1"},
    {512, "u2"}, {768, "u4"}, {1024, "i8"}, {1280, "u8"}, {1536, "f16"}, {1792, "c16"}, {2048, "c32"}};

class NiftiHeader {
 public:
  explicit NiftiHeader(HeaderBytes& file) {
    const std::string first(file.at(0, 4));
    for (const bool little : {true, false}) {
      for (const NiftiLayout* version : {&nifti_1, &nifti_2}) {
        if (number_of(first, little) != version->bytes) continue;
        little_ = little;
        layout_ = version;
        bytes_ = file.at(0, version->bytes);
        return;
      }
    }
    throw InputError("corrupt NIfTI header: its size is neither 348 nor 540 bytes");
  }

  const NiftiLayout& layout() const { return *layout_; }
  bool little() const { return little_; }
  bool pair() const { return bytes_.substr(layout_->magic + 1, 1) == "i"; }
  std::uint64_t number(std::size_t at, std::size_t bytes) const {
    return number_of(std::string_view(bytes_).substr(at, bytes), little_);
  }
  double real(std::size_t at) const {
    const std::uint64_t bits = number(at, layout_->real_bytes);
    if (layout_->real_bytes == 8) return std::bit_cast<double>(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }

 private:
  bool little_ = true;
  const NiftiLayout* layout_ = nullptr;
  std::string bytes_;
};

std::uint64_t nifti_offset(const NiftiHeader& header) {
  const NiftiLayout& layout = header.layout();
  const std::uint64_t least = header.pair() ? 0 : layout.bytes + 4;
  if (layout.real_bytes == 8) {
    const std::uint64_t offset = header.number(layout.offset, 8);
    if (offset >= least && offset >> 63 == 0) return offset;
  } else if (const double offset = header.real(layout.offset);
             offset >= static_cast<double>(least) && offset < 0x1p32 && offset == std::floor(offset)) {
    return static_cast<std::uint64_t>(offset);
  }
  throw InputError(fmt::format("corrupt NIfTI header: vox_offset is not a whole number from {} on", least));
}

// Absent for what no NumPy type is, such as single bits.
std::optional<DType> nifti_type(std::uint64_t code, bool little) {
  const auto colours = [](const char* names) {
    DType type{0, "["};
    for (const char* c = names; *c != 0; ++c, ++type.bytes)
      type.descr += fmt::format("{}('{}', '|u1')", c == names ? "" : ", ", *c);
    type.descr += "]";
    return type;
  };
  if (code == 128) return colours("RGB");
  if (code == 2304) return colours("RGBA");
  for (const auto& [known, type] : nifti_types) {
    if (known == code) return parse_dtype((little ? "<" : ">") + std::string(type));
  }
  return {};
}

}  // namespace

bool is_nifti_pair(HeaderBytes& header) {
  const auto has = [&](std::size_t at, std::string_view magic) {
    return header.file_bytes() >= at + magic.size() && header.at(at, magic.size()) == magic;
  };
  return has(nifti_1.magic, "ni1") || has(nifti_2.magic, "ni2");
}

std::vector<ContainedArray> read_nifti(HeaderBytes& file, std::uint64_t data_bytes) {
  const NiftiHeader header(file);
  const NiftiLayout& layout = header.layout();
  ContainedArray array{.name = "data", .order = Order::fortran, .offset = nifti_offset(header)};
  const auto extent = [&](std::uint64_t i) {
    return header.number(layout.extents + static_cast<std::size_t>(i) * layout.extent_bytes,
                         layout.extent_bytes);
  };
  const std::uint64_t axes = extent(0), most = (std::uint64_t{1} << (8 * layout.extent_bytes - 1)) - 1;
  if (axes < 1 || axes > 7)
    throw InputError(fmt::format("corrupt NIfTI header: {} axes (dim[0]); expected 1 to 7", axes));
  for (std::uint64_t i = 1; i <= axes; ++i) {
    if (extent(i) < 1 || extent(i) > most)
      throw InputError(fmt::format("corrupt NIfTI header: dim[{}] is not from 1 to {}", i, most));
    array.extents.push_back(extent(i));
  }
  const std::uint64_t code = header.number(layout.type, 2);
  array.dtype = nifti_type(code, header.little());
  if (!array.dtype) {
    array.refusal = fmt::format("its data type is {}, for which NumPy has no type", code);
    return {array};
  }
  const double slope = header.real(layout.slope), inter = header.real(layout.slope + layout.real_bytes);
  if (slope != 0 && std::isfinite(slope) && (slope != 1 || inter != 0))
    array.note = fmt::format(
        "its numbers stand for others (scl_slope = {}, scl_inter = {}); they are moved as they are stored",
        slope, inter);
  check_inside(array, data_bytes);
  return {array};
}

}  // namespace xorder::io
