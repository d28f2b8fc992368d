#include "xorder/io/array_file.hpp"

#include "io/format/known_formats.hpp"
#include "io/format/npy.hpp"
#include "io/format/on_disk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

// The extent that makes an array of the other extents fill `available` bytes.
std::uint64_t inferred_extent(const File& file, const RawLayout& raw, std::uint64_t available) {
  std::vector<std::uint64_t> others = *raw.extents;
  others[*raw.inferred_axis] = 1;
  const std::uint64_t unit = checked_bytes({others, raw.dtype->bytes, Order::c});
  if (unit == 0 || available % unit != 0) {
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

// `raw` has a dtype.
ArrayDescription raw_description(const File& file, const RawLayout& raw) {
  const std::string& path = file.name();
  ArrayDescription description{*raw.dtype, {}, Order::c, raw.offset};
  const std::uint64_t w = raw.dtype->bytes;
  if (raw.offset > file.size()) {
    throw InputError(fmt::format("{}: the offset {} lies beyond the file's {}", path, raw.offset,
                                 count_text(file.size(), "byte")));
  }
  const std::uint64_t available = file.size() - raw.offset;
  if (raw.extents) {
    description.extents = *raw.extents;
    if (raw.extents->size() > max_axes) {
      throw InputError(
          fmt::format("{}: shape of {} axes; NumPy has at most {}", path, raw.extents->size(), max_axes));
    }
    if (raw.inferred_axis) description.extents[*raw.inferred_axis] = inferred_extent(file, raw, available);
    const std::uint64_t needed = checked_bytes(description.shape());
    if (needed != available) {
      throw InputError(fmt::format("{}: the file has {}, but offset {} + {} × shape ({}) is {}", path,
                                   count_text(file.size(), "byte"), raw.offset, count_text(w, "byte"),
                                   fmt::join(description.extents, ", "), raw.offset + needed));
    }
  } else {
    if (available % w != 0) {
      throw InputError(fmt::format("{}: the file has {}, which is not offset {} plus a multiple of {}", path,
                                   count_text(file.size(), "byte"), raw.offset, count_text(w, "byte")));
    }
    description.extents = {available / w};
  }
  return description;
}

// The description is left empty.
ArrayFile opened(const std::filesystem::path& path, Disk& disk) {
  auto file = std::make_shared<const File>(File::open_input(path, Access::buffered, disk));
  const FileStamp stamp = file->settled_stamp();
  return {path, std::move(file), stamp, Format::raw, {}};
}

}  // namespace

const char* name(Format format) { return format == Format::npy ? "npy" : "raw"; }

ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw) {
  return open_array(path, raw, system_disk());
}

ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw, Disk& disk) {
  ArrayFile array = opened(path, disk);
  const File& file = *array.file;
  const KnownFormat* const known = format_of_content(file);
  if (known != nullptr && known->read_as == Format::npy) {
    if (raw)
      throw LayoutError(
          fmt::format("{}: an .npy file says what it holds; dtype, shape and offset are only for raw files",
                      path.string()));
    array.format = Format::npy;
    array.description = read_npy_header(file);
  } else if (raw && raw->dtype) {
    array.description = raw_description(file, *raw);
  } else {
    refuse_unread(path.string(), known);
  }
  return array;
}

ArrayFile on_disk(ArrayFile array, Disk& disk) {
  array.file = std::make_shared<const File>(array.file->reopen(Access::buffered, disk));
  return array;
}

ArrayFile open_raw_array(const std::filesystem::path& path, const RawLayout& raw) {
  ArrayFile array = opened(path, system_disk());
  if (!raw.dtype) refuse_unread(path.string(), nullptr);
  array.description = raw_description(*array.file, raw);
  return array;
}

Format output_format(const std::filesystem::path& path, Format input, bool own_header) {
  const KnownFormat* const known = format_of_name(path);
  if (known != nullptr && known->written_as) return *known->written_as;
  if (known == nullptr || own_header) return input;
  throw InputError(fmt::format(
      "{}: {} means {}, which is not written; a name may end in {}, or in what means no other format",
      path.string(), path.extension().string(), known->name, written_suffixes()));
}

}  // namespace xorder::io
