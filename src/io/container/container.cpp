#include "io/container/container.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "io/container/hdf5.hpp"
#include "io/disk.hpp"
#include "io/format/npy.hpp"
#include "io/format/on_disk.hpp"
#include "io/format/python_literal.hpp"
#include "text/count_text.hpp"
#include "text/utf8.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

// A name for messages. Names come from headers, too.
std::string shown_name(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const Utf8Character c = first_character(rest);
    if (!c.code || !prints(*c.code)) return excerpt(name);
    rest.remove_prefix(c.bytes.size());
  }
  return std::string(name);
}

// "0 (SCI), 1, .." of those that `take` takes, with what `say` says of each.
template <class Take, class Say>
std::string listed(const std::vector<ContainedArray>& arrays, Take take, Say say) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  std::size_t left_out = 0;
  for (const ContainedArray& array : arrays) {
    if (!take(array)) continue;
    if (names.size() == most) {
      ++left_out;
      continue;
    }
    const std::string alias =
        array.aliases.empty() ? "" : fmt::format(" ({})", shown_name(array.aliases.front()));
    names.push_back(fmt::format("{}{}{}", shown_name(array.name), alias, say(array)));
  }
  if (left_out != 0) names.push_back(fmt::format(".. and {} more (xorder info)", left_out));
  return fmt::format("{}", fmt::join(names, ", "));
}
std::string listed(const std::vector<ContainedArray>& arrays) {
  return listed(
      arrays, [](const ContainedArray& a) { return a.refusal.empty(); },
      [](const ContainedArray&) { return ""; });
}

std::vector<const ContainedArray*> of_name(const std::vector<ContainedArray>& arrays,
                                           const std::string& name) {
  const auto is_it = [&](const std::string& given) { return given == name || given == "/" + name; };
  std::vector<const ContainedArray*> found;
  for (const ContainedArray& array : arrays)
    if (is_it(array.name)) found.push_back(&array);
  if (!found.empty()) return found;
  for (const ContainedArray& array : arrays)
    if (std::ranges::any_of(array.aliases, is_it)) found.push_back(&array);
  return found;
}

// The regular files among those beside `path`, with other suffixes.
std::vector<fs::path> beside(const fs::path& path, std::initializer_list<const char*> suffixes) {
  std::vector<fs::path> found;
  for (const char* suffix : suffixes) {
    fs::path other = path;
    other.replace_extension(suffix);
    std::error_code ignored;
    if (other != path && is_regular_file(other, ignored)) found.push_back(std::move(other));
  }
  return found;
}

// `array` is a header: it becomes the file with the data, which lies beside it.
void find_data(ArrayFile& array) {
  const bool envi = array.format == Format::envi;
  const auto found =
      envi ? beside(array.path, {"", ".img", ".dat", ".raw", ".bin", ".bsq", ".bil", ".bip", ".sli"})
           : beside(array.path, {".img"});
  const std::string path = array.path.string();
  if (found.empty())
    throw InputError(fmt::format(
        "{}: is only a header; its data should lie beside it in a file of the same name {}", path,
        envi ? "without a suffix, or with .img, .dat, .raw, .bin, .bsq, .bil, .bip or .sli" : "with .img"));
  if (found.size() > 1)
    throw InputError(fmt::format("{}: is a header of {} or of {}; name the file with the data", path,
                                 found[0].string(), found[1].string()));
  ArrayFile data = opened_file(found.front(), array.file->disk());
  data.format = array.format;
  data.header = std::move(array.file);
  data.header_stamp = array.stamp;
  array = std::move(data);
}

// x.hdr or x.img.hdr, which says what x.img holds: opened, with its format.
std::optional<ArrayFile> header_of(const fs::path& path, Disk& disk) {
  fs::path longer = path;
  longer += ".x";  // which becomes .hdr
  std::vector<fs::path> found = beside(path, {".hdr"});
  std::ranges::copy(beside(longer, {".hdr"}), std::back_inserter(found));
  for (const fs::path& candidate : found) {
    ArrayFile header = opened_file(candidate, disk);
    const KnownFormat* const known = format_of_content(*header.file);
    if (known == nullptr || !known->read_as) continue;
    HeaderBytes bytes(*header.file);
    if (*known->read_as != Format::envi && (*known->read_as != Format::nifti || !is_nifti_pair(bytes)))
      continue;
    header.format = *known->read_as;
    return header;
  }
  return std::nullopt;
}

}  // namespace

ArrayDescription ContainedArray::description() const {
  ArrayDescription array = ArrayDescription::contiguous(*dtype, extents, order, offset);
  if (pitch != 0) array.strides.front() = static_cast<std::int64_t>(pitch);
  return array;
}

void check_inside(ContainedArray& array, std::uint64_t file_bytes) {
  if (!array.refusal.empty()) return;
  try {
    check_rank(array.extents.size());
    const std::uint64_t bytes = checked_bytes({array.extents, array.dtype->bytes, array.order});
    // Up to the last element's end.
    std::uint64_t reach = bytes;
    if (array.pitch != 0 && bytes != 0 &&
        (__builtin_mul_overflow(array.pitch, array.extents.front() - 1, &reach) ||
         __builtin_add_overflow(reach, bytes / array.extents.front(), &reach)))
      reach = ~std::uint64_t{0};
    if (array.offset <= file_bytes && reach <= file_bytes - array.offset) return;
    array.refusal = fmt::format("truncated: it takes {} from byte {} on, the file has {}",
                                count_text(reach, "byte"), array.offset, file_bytes);
  } catch (const InputError& error) {
    array.refusal = error.what();
  }
}

std::optional<std::vector<ContainedArray>> read_container(ArrayFile& array, const KnownFormat* known) {
  if (known != nullptr) {
    if (!known->read_as || *known->read_as == Format::npy || *known->read_as == Format::raw) return {};
    if (*known->read_as == Format::hdf5 && !hdf5_helper()) return {};
    array.format = *known->read_as;
    HeaderBytes header(*array.file);
    if (array.format == Format::envi || (array.format == Format::nifti && is_nifti_pair(header)))
      find_data(array);
  } else {
    const auto header = header_of(array.path, array.file->disk());
    if (!header) return {};
    array.format = header->format;
    array.header = header->file;
    array.header_stamp = header->stamp;
  }
  const File& file = array.header ? *array.header : *array.file;
  HeaderBytes header(file);
  try {
    switch (array.format) {
      case Format::fits:
        return read_fits(header);
      case Format::netcdf:
        return read_netcdf(header);
      case Format::nifti:
        return read_nifti(header, array.file->size());
      case Format::envi:
        return read_envi(header, array.file->size());
      case Format::hdf5:
        return read_hdf5(file);
      case Format::npy:
      case Format::raw:
        break;
    }
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.name(), error.what()));
  }
  return {};
}

std::optional<fs::path> header_beside(const fs::path& path, Disk& disk) {
  try {
    if (const auto header = header_of(path, disk)) return header->path;
  } catch (const InputError&) {  // a file that cannot be read is nobody's header
  }
  return std::nullopt;
}

const ContainedArray& chosen_array(const std::vector<ContainedArray>& arrays,
                                   const std::optional<std::string>& name, const std::string& path) {
  const auto readable = [](const ContainedArray& array) { return array.refusal.empty(); };
  const auto count = std::ranges::count_if(arrays, readable);
  if (name) {
    const auto found = of_name(arrays, *name);
    if (found.size() == 1) {
      if (found.front()->refusal.empty()) return *found.front();
      throw InputError(fmt::format("{}:{}: {}", path, shown_name(*name), found.front()->refusal));
    }
    if (!found.empty())
      throw InputError(fmt::format(
          "{}: {} arrays are named {}: {}", path, found.size(), shown_name(*name),
          listed(
              arrays, [&](const ContainedArray& a) { return std::ranges::find(found, &a) != found.end(); },
              [](const ContainedArray&) { return ""; })));
    if (count != 0)
      throw InputError(
          fmt::format("{}: has no array {}; it has {}", path, shown_name(*name), listed(arrays)));
  } else if (count > 1) {
    throw InputError(
        fmt::format("{}: has {} arrays; name one, as {}:NAME: {}", path, count, path, listed(arrays)));
  }
  if (count == 0) {
    const auto why = [](const ContainedArray& array) { return ": " + array.refusal; };
    throw InputError(fmt::format("{}: has no array that can be read{}{}", path, arrays.empty() ? "" : "; ",
                                 listed(
                                     arrays, [](const ContainedArray&) { return true; }, why)));
  }
  return *std::ranges::find_if(arrays, readable);
}

std::optional<Contents> contents(const fs::path& path) {
  const FileAndName named = file_and_name(path);
  if (named.name) return {};
  ArrayFile array = opened_file(named.file, system_disk());
  auto arrays = read_container(array, format_of_content(*array.file));
  if (!arrays) return {};
  return Contents{array.format, *std::move(arrays)};
}

}  // namespace xorder::io
