#include "xorder/io/array_file.hpp"

#include "io/container/container.hpp"
#include "io/format/known_formats.hpp"
#include "io/format/npy.hpp"
#include "io/format/on_disk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using std::uint64_t;

// The extent that makes an array of the other extents fill `available` bytes.
std::uint64_t inferred_extent(const File& file, const RawLayout& raw, std::uint64_t available) {
  std::vector<std::uint64_t> others = *raw.extents;
  others[*raw.inferred_axis] = 1;
  const std::uint64_t unit = checked_bytes({others, raw.dtype->bytes, Order::c});
  if (unit == 0 || (available % unit != 0 && !raw.ignore_rest)) {
    std::vector<std::string> shape;
    for (const std::uint64_t extent : others) shape.push_back(std::to_string(extent));
    shape[*raw.inferred_axis] = "-1";
    throw InputError(fmt::format("{}: the file has {}, which is not offset {} plus {} × shape ({})",
                                 file.name(), count_text(file.size(), "byte"), raw.offset,
                                 count_text(raw.dtype->bytes, "byte"), fmt::join(shape, ", ")));
  }
  return available / unit;
}

// For a file that is not read: `known` is its format, or null.
[[noreturn]] void refuse_unread(const std::string& path, const KnownFormat* known) {
  if (known == nullptr)
    throw LayoutError(fmt::format("{}: not an .npy file; for a raw file give its dtype and shape", path));
  const std::string text = fmt::format("{}: is {}; {}", path, known->name, known->advice);
  if (!known->plain) throw InputError(text);
  throw LayoutError(text + "; or give the dtype, shape and offset of an array that lies in it uncompressed");
}

// Behind the array of a raw file there may be the rest of its last row, but nothing else.
[[noreturn]] void refuse_rest(const File& file, const RawLayout& raw, const ArrayDescription& array) {
  throw RestError(fmt::format("{}: the file has {}, but offset {} + {} × shape ({}) is {}", file.name(),
                              count_text(file.size(), "byte"), raw.offset,
                              count_text(array.dtype.bytes, "byte"), fmt::join(array.extents, ", "),
                              array.end()));
}

// `raw` has a dtype and extents.
ArrayDescription described(const File& file, const RawLayout& raw, uint64_t available) {
  const std::string& path = file.name();
  const uint64_t w = raw.dtype->bytes;
  std::vector<uint64_t> extents = *raw.extents;
  check_rank(extents.size(), path + ": ");
  if (!raw.strides.empty()) {
    if (raw.order != Order::c)
      throw InputError(
          fmt::format("{}: strides say in which order the axes lie; an order is not wanted", path));
    if (raw.inferred_axis)
      throw InputError(fmt::format("{}: with strides no extent can be -1; give all of them", path));
    if (raw.strides.size() != extents.size())
      throw InputError(fmt::format("{}: {} strides for shape ({}); expected one for each axis", path,
                                   raw.strides.size(), fmt::join(extents, ", ")));
    if (std::ranges::find(raw.strides, std::numeric_limits<std::int64_t>::min()) != raw.strides.end())
      throw InputError(fmt::format("{}: a stride of -2^63 is too large", path));
    checked_bytes({extents, w, Order::c});
    ArrayDescription array{*raw.dtype, std::move(extents), raw.strides, raw.offset};
    check_layout(array, file.size(), path);
    uint64_t pitch = w;  // of the slowest axis
    for (std::size_t i = 0; i < raw.strides.size(); ++i)
      pitch = std::max(pitch, static_cast<uint64_t>(std::abs(raw.strides[i])));
    if (!raw.ignore_rest && file.size() - array.end() >= pitch) refuse_rest(file, raw, array);
    return array;
  }
  if (raw.inferred_axis) extents[*raw.inferred_axis] = inferred_extent(file, raw, available);
  const uint64_t needed = checked_bytes({extents, w, Order::c});
  auto array = ArrayDescription::contiguous(*raw.dtype, std::move(extents), raw.order, raw.offset);
  if (needed < available && !raw.ignore_rest) refuse_rest(file, raw, array);
  if (needed > available) {
    throw InputError(fmt::format("{}: the file has {}, but offset {} + {} × shape ({}) is {}", path,
                                 count_text(file.size(), "byte"), raw.offset, count_text(w, "byte"),
                                 fmt::join(array.extents, ", "), raw.offset + needed));
  }
  return array;
}

// `raw` has a dtype.
ArrayDescription raw_description(const File& file, const RawLayout& raw) {
  const std::string& path = file.name();
  const uint64_t w = raw.dtype->bytes;
  if (raw.offset > file.size()) {
    throw InputError(fmt::format("{}: the offset {} lies beyond the file's {}", path, raw.offset,
                                 count_text(file.size(), "byte")));
  }
  const uint64_t available = file.size() - raw.offset;
  if (raw.extents) return described(file, raw, available);
  if (!raw.strides.empty()) throw InputError(fmt::format("{}: strides need a shape", path));
  if (available % w != 0 && !raw.ignore_rest) {
    throw RestError(fmt::format("{}: the file has {}, which is not offset {} plus a multiple of {}", path,
                                count_text(file.size(), "byte"), raw.offset, count_text(w, "byte")));
  }
  return ArrayDescription::contiguous(*raw.dtype, {available / w}, Order::c, raw.offset);
}

}  // namespace

const char* name(Format format) {
  static constexpr const char* names[] = {"npy", "raw", "fits", "netcdf", "nifti", "envi", "hdf5"};
  return names[static_cast<std::size_t>(format)];
}

ArrayFile opened_file(const std::filesystem::path& path, Disk& disk) {
  auto file = std::make_shared<const File>(File::open_input(path, Access::buffered, disk));
  const FileStamp stamp = file->settled_stamp();
  return {path, std::move(file), stamp, Format::raw, {}};
}

ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw) {
  return open_array(path, raw, system_disk());
}

ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw, Disk& disk) {
  const auto [file_path, member] = file_and_name(path);
  ArrayFile array = opened_file(file_path, disk);
  const std::string given = file_path.string();
  const KnownFormat* const known = format_of_content(*array.file);
  const bool npy = known != nullptr && known->read_as == Format::npy;
  if (npy && raw)
    throw LayoutError(fmt::format(
        "{}: an .npy file says what it holds; dtype, offset, order and strides are only for raw files",
        given));
  if (npy || (raw && raw->dtype)) {
    if (member)
      throw InputError(fmt::format("{}: there is no such file, and {} is {}, which has no arrays with names",
                                   path.string(), given, npy ? known->name : "to be read as a raw file"));
    array.format = npy ? Format::npy : Format::raw;
    array.description = npy ? read_npy_header(*array.file) : raw_description(*array.file, *raw);
    array.rest = array.file->size() - array.description.end();
    return array;
  }
  const auto arrays = read_container(array, known);
  if (!arrays) refuse_unread(given, known);
  if (raw)
    throw LayoutError(
        fmt::format("{}: its header ({}) says what it holds; give the dtype, too, to read it as a raw "
                    "file",
                    given, name(array.format)));
  const ContainedArray& chosen = chosen_array(*arrays, member, given);
  array.description = chosen.description();
  array.member = chosen.name;
  array.axis_names = chosen.axis_names;
  array.note = chosen.note;
  return array;
}

ArrayFile on_disk(ArrayFile array, Disk& disk) {
  for (auto* file : {&array.file, &array.header})
    if (*file) *file = std::make_shared<const File>((*file)->reopen(Access::buffered, disk));
  return array;
}

ArrayFile open_raw_array(const std::filesystem::path& path, const RawLayout& raw) {
  ArrayFile array = opened_file(path, system_disk());
  if (!raw.dtype) refuse_unread(path.string(), nullptr);
  array.description = raw_description(*array.file, raw);
  array.rest = array.file->size() - array.description.end();
  return array;
}

Format output_format(const std::filesystem::path& path, Format input, bool own_header) {
  const std::string name = path.filename().string();
  if (const auto colon = name.rfind(':'); colon != name.npos) {
    const KnownFormat* const container = format_of_name(name.substr(0, colon));
    if (container != nullptr && !container->written_as)
      throw InputError(fmt::format("{}: names an array in {}, which is not written; name a file",
                                   path.string(), container->name));
  }
  const KnownFormat* const known = format_of_name(path);
  if (known != nullptr && own_header && known->written_as != Format::npy) return Format::raw;
  if (known != nullptr && known->written_as) return *known->written_as;
  if (known == nullptr) {  // an ENVI raster is a raw file with a header beside it
    const bool raw = input == Format::raw || (input == Format::envi && path.has_extension());
    return raw ? Format::raw : Format::npy;
  }
  throw InputError(fmt::format(
      "{}: {} means {}, which is not written; a name may end in {}, or in what means no other format",
      path.string(), path.extension().string(), known->name, written_suffixes()));
}

}  // namespace xorder::io
