#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "hdf5.hpp"

namespace xorder_hdf5 {
namespace {

using nlohmann::json;

// Dimension scales are copied whole, through memory.
constexpr hsize_t most_scale_bytes = hsize_t{8} << 20;

// A file for libhdf5, which takes none without a name. It is sparse.
class Scratch {
 public:
  Scratch() {
    const char* const given = std::getenv("TMPDIR");
    for (const std::string folder : {"/dev/shm", given == nullptr ? "/var/tmp" : given, "/tmp"}) {
      path_ = folder + "/xorder-hdf5-XXXXXX";
      file_ = mkstemp(path_.data());
      if (file_ >= 0) return;
    }
    throw std::runtime_error("there is no directory for temporary files: /dev/shm, $TMPDIR, /tmp");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { unlink(path_.c_str()); }

  Id opened(bool anew) const {
    const Id access = owned(H5Pcreate(H5P_FILE_ACCESS));
    checked(H5Pset_alignment(access, 4096, 4096));
    return owned(anew ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                      : H5Fopen(path_.c_str(), H5F_ACC_RDWR, access));
  }
  std::uint64_t size() const {
    struct stat status;
    return fstat(file_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  std::string beginning(std::uint64_t bytes) const {
    std::string read(bytes, '\0');
    if (pread(file_, read.data(), bytes, 0) != static_cast<ssize_t>(bytes))
      throw std::runtime_error("the new file's header cannot be read");
    return read;
  }

 private:
  std::string path_;
  int file_ = -1;
};

Id with_order(hid_t type, char order) {
  Id copy = owned(H5Tcopy(type));
  if (order == '<' || order == '>') checked(H5Tset_order(copy, order == '<' ? H5T_ORDER_LE : H5T_ORDER_BE));
  return copy;
}

Id bytes_type(H5T_class_t kind, std::size_t bytes) {
  if (kind == H5T_OPAQUE) {
    Id type = owned(H5Tcreate(H5T_OPAQUE, bytes));
    checked(H5Tset_tag(type, ""));
    return type;
  }
  Id type = owned(H5Tcopy(H5T_C_S1));
  checked(H5Tset_size(type, bytes));
  checked(H5Tset_strpad(type, H5T_STR_NULLPAD));
  return type;
}

// h5py's ways for what HDF5 does not have.
Id boolean() {
  Id type = owned(H5Tenum_create(H5T_STD_I8LE));
  signed char value = 0;
  checked(H5Tenum_insert(type, "FALSE", &value));
  checked(H5Tenum_insert(type, "TRUE", &++value));
  return type;
}
Id complex_number(hid_t part) {
  const std::size_t bytes = H5Tget_size(part);
  Id type = owned(H5Tcreate(H5T_COMPOUND, 2 * bytes));
  checked(H5Tinsert(type, "r", 0, part));
  checked(H5Tinsert(type, "i", bytes, part));
  return type;
}
Id half(char order) {
  Id type = with_order(H5T_IEEE_F32LE, order);
  checked(H5Tset_fields(type, 15, 10, 5, 0, 10));
  checked(H5Tset_size(type, 2));
  checked(H5Tset_ebias(type, 15));
  return type;
}

Id real_type(char order, std::size_t bytes, const std::string& text) {
  if (bytes == 2) return half(order);
  if (bytes == 4) return with_order(H5T_IEEE_F32LE, order);
  if (bytes == 8) return with_order(H5T_IEEE_F64LE, order);
  if (bytes == H5Tget_size(H5T_NATIVE_LDOUBLE)) return with_order(H5T_NATIVE_LDOUBLE, order);
  throw std::runtime_error(fmt::format("HDF5 has no type for {}", text));
}

Id simple_type(const std::string& text) {
  const char order = text.at(0), kind = text.at(1);
  if (kind == 'M' || kind == 'm') {
    Id type = bytes_type(H5T_OPAQUE, 8);
    checked(H5Tset_tag(type, ("NUMPY:" + text).c_str()));
    return type;
  }
  const std::size_t bytes = std::stoul(text.substr(2));
  const hid_t integers[] = {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE,
                            H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE};
  switch (kind) {
    case 'b':
      return boolean();
    case 'i':
    case 'u':
      for (const hid_t type : integers)
        if (H5Tget_size(type) == bytes && (H5Tget_sign(type) == H5T_SGN_2) == (kind == 'i'))
          return with_order(type, order);
      break;
    case 'f':
      return real_type(order, bytes, text);
    case 'c':
      return complex_number(real_type(order, bytes / 2, text));
    case 'S':
      return bytes_type(H5T_STRING, bytes);
    case 'V':
      return bytes_type(H5T_OPAQUE, bytes);
    default:
      break;
  }
  throw std::runtime_error(fmt::format("HDF5 has no type for {}", text));
}

// A type string, or [[name, type, [extents]], ..], in which nameless fields are gaps.
Id type_of(const json& descr) {
  if (descr.is_string()) return simple_type(descr.get<std::string>());
  struct Member {
    std::string name;
    std::size_t offset;
    Id type;
  };
  std::vector<Member> members;
  std::size_t bytes = 0;
  for (const json& field : descr) {
    const auto name = field.at(0).get<std::string>();
    if (name.empty()) {  // |V and a size
      bytes += std::stoul(field.at(1).get<std::string>().substr(2));
      continue;
    }
    Id type = type_of(field.at(1));
    if (field.size() > 2) {
      const auto extents = field[2].get<std::vector<hsize_t>>();
      type = owned(H5Tarray_create2(type, static_cast<unsigned>(extents.size()), extents.data()));
    }
    const std::size_t size = H5Tget_size(type);
    members.push_back({name, bytes, std::move(type)});
    bytes += size;
  }
  Id type = owned(H5Tcreate(H5T_COMPOUND, bytes));
  for (const Member& member : members)
    checked(H5Tinsert(type, member.name.c_str(), member.offset, member.type));
  return type;
}

// The dataset that the new one is made from.
struct Source {
  Id file, dataset;
  std::vector<hsize_t> extents;

  /// Whether each axis that the new one has from this one is whole there.
  bool lends(const std::vector<int>& axes, const std::vector<hsize_t>& shape) const {
    if (axes.size() != shape.size() || extents.size() != shape.size()) return false;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] >= 0 && extents.at(static_cast<std::size_t>(axes[i])) != shape[i]) return false;
    return true;
  }
};

Source opened(const char* path, const std::string& name) {
  Source source;
  source.file = owned(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
  source.dataset = owned(H5Dopen2(source.file, name.c_str(), H5P_DEFAULT));
  const Id space = owned(H5Dget_space(source.dataset));
  source.extents.resize(static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space))));
  checked(H5Sget_simple_extent_dims(space, source.extents.data(), nullptr));
  return source;
}

bool copy_attribute(hid_t from, hid_t to, const char* name) {
  const Id attribute(H5Aopen(from, name, H5P_DEFAULT));
  const Id stored(H5Aget_type(attribute)), space(H5Aget_space(attribute));
  const Id type(H5Tcopy(stored));
  const hssize_t values = H5Sget_simple_extent_npoints(space);
  if (type < 0 || values < 0 || H5Tdetect_class(type, H5T_REFERENCE) != 0) return false;
  std::vector<char> buffer(static_cast<std::size_t>(values) * H5Tget_size(type));
  if (values > 0 && H5Aread(attribute, type, buffer.data()) < 0) return false;
  const Id copy(H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  const bool copied = copy >= 0 && (values == 0 || H5Awrite(copy, type, buffer.data()) >= 0);
  if (values > 0 && H5Tdetect_class(type, H5T_VLEN) + H5Tis_variable_str(type) > 0)
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer.data());
  return copied;
}

std::optional<std::vector<int>> numbers(hid_t object, const char* name, std::size_t count) {
  if (H5Aexists(object, name) <= 0) return {};
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT)), space(H5Aget_space(attribute));
  std::vector<int> values(count);
  if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(count) ||
      H5Aread(attribute, H5T_NATIVE_INT, values.data()) < 0)
    return {};
  return values;
}

void set_numbers(hid_t object, const char* name, const std::vector<int>& values, bool scalar) {
  const hsize_t count = values.size();
  const Id space = owned(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr));
  const Id attribute = owned(H5Acreate2(object, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
  checked(H5Awrite(attribute, H5T_NATIVE_INT, values.data()));
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names));
  return names;
}

// Names of what is left out, for a note.
using Lost = std::vector<std::string>;

void copy_attributes(const Source& source, hid_t dataset, Lost& lost) {
  const bool scale = H5DSis_scale(source.dataset) > 0;
  for (const std::string& name : attribute_names(source.dataset)) {
    if (name == "DIMENSION_LIST" || name == "REFERENCE_LIST" || name == "DIMENSION_LABELS" ||
        name == "_Netcdf4Coordinates" || name == "_Netcdf4Dimid" ||
        (scale && (name == "CLASS" || name == "NAME")))
      continue;
    if (!copy_attribute(source.dataset, dataset, name.c_str())) lost.push_back(name);
  }
}

std::vector<std::string> scale_paths(hid_t dataset, unsigned axis) {
  std::vector<std::string> paths;
  const auto add = [](hid_t, unsigned, hid_t scale, void* to) -> herr_t {
    char name[4096] = "";
    if (H5Iget_name(scale, name, sizeof name) > 0)
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5DSiterate_scales(dataset, axis, nullptr, add, &paths);
  return paths;
}

// The scale's copy in the new file, under the same name.
Id copied_scale(const Source& source, hid_t out, const std::string& path, hsize_t& room, hid_t links) {
  if (H5LTpath_valid(out, path.c_str(), 1) <= 0) {
    const Id scale(H5Dopen2(source.file, path.c_str(), H5P_DEFAULT));
    const hsize_t bytes = H5Dget_storage_size(scale);
    if (scale < 0 || bytes > room) return Id();
    room -= bytes;
    if (H5Ocopy(source.file, path.c_str(), out, path.c_str(), H5P_DEFAULT, links) < 0) return Id();
    const Id copy(H5Dopen2(out, path.c_str(), H5P_DEFAULT));
    for (const char* of_others : {"REFERENCE_LIST", "DIMENSION_LIST"})
      if (H5Aexists(copy, of_others) > 0) H5Adelete(copy, of_others);
  }
  return Id(H5Dopen2(out, path.c_str(), H5P_DEFAULT));
}

// What belongs to an axis goes with it. Axis i of the dataset was axis axes[i] of the source, or, if that is
// negative, nothing is known of it.
void copy_axes(const Source& source, hid_t out, hid_t dataset, const std::vector<int>& axes, hid_t links,
               Lost& lost) {
  hsize_t room = most_scale_bytes;
  std::optional<std::vector<int>> first;
  for (unsigned i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0) continue;
    const auto axis = static_cast<unsigned>(axes[i]);
    if (char label[256] = ""; H5DSget_label(source.dataset, axis, label, sizeof label) > 0)
      H5DSset_label(dataset, i, label);
    for (const std::string& path : scale_paths(source.dataset, axis)) {
      const Id scale = copied_scale(source, out, path, room, links);
      if (scale < 0 || H5DSattach_scale(dataset, scale, i) < 0) {
        lost.push_back(path);
      } else if (i == 0 && !first) {
        first = numbers(scale, "_Netcdf4Dimid", 1);
      }
    }
  }
  if (std::ranges::any_of(axes, [](int axis) { return axis < 0; })) return;
  if (first && H5Aexists(source.dataset, "_Netcdf4Dimid") > 0)
    set_numbers(dataset, "_Netcdf4Dimid", *first, true);
  if (const auto old = numbers(source.dataset, "_Netcdf4Coordinates", axes.size())) {
    std::vector<int> permuted;
    for (const int axis : axes) permuted.push_back((*old)[static_cast<std::size_t>(axis)]);
    set_numbers(dataset, "_Netcdf4Coordinates", permuted, false);
  }
}

// Its storage is allocated when the first element is written, and nothing else is.
haddr_t allocated(hid_t dataset, hid_t type) {
  const Id space = owned(H5Dget_space(dataset));
  if (H5Sget_simple_extent_npoints(space) == 0) return HADDR_UNDEF;
  const Id one = owned(H5Screate(H5S_SCALAR));
  if (const int axes = H5Sget_simple_extent_ndims(space); axes > 0) {
    const std::vector<hsize_t> first(static_cast<std::size_t>(axes), 0);
    checked(H5Sselect_elements(space, H5S_SELECT_SET, 1, first.data()));
  }
  const std::vector<char> zeros(H5Tget_size(type), 0);
  checked(H5Dwrite(dataset, type, one, space, H5P_DEFAULT, zeros.data()));
  return H5Dget_offset(dataset);
}

}  // namespace

json create(const char* from, const json& request, std::string& header) {
  const auto shape = request.at("shape").get<std::vector<hsize_t>>();
  std::optional<Source> source;
  if (request.contains("source")) source = opened(from, request["source"].get<std::string>());
  std::optional<Id> type;
  if (source) type = element_type(source->dataset);
  const bool same = type && descr_of(*type) == request.at("descr");
  if (!same) type = type_of(request.at("type"));
  if (H5Tget_size(*type) != request.at("element_bytes")) throw std::runtime_error("a type of another size");
  const std::string path = request.at("dataset").get<std::string>();
  const Scratch scratch;
  Lost lost;
  {
    const Id out = scratch.opened(true), links = owned(H5Pcreate(H5P_LINK_CREATE));
    checked(H5Pset_create_intermediate_group(links, 1));
    const Id properties = owned(same ? H5Dget_create_plist(source->dataset) : H5Pcreate(H5P_DATASET_CREATE));
    checked(H5Pset_obj_track_times(properties, false));  // the same file every time
    checked(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER));
    checked(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_LATE));
    const Id space =
        owned(shape.empty() ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    const Id dataset = owned(H5Dcreate2(out, path.c_str(), *type, space, links, properties, H5P_DEFAULT));
    if (source) {
      copy_attributes(*source, dataset, lost);
      const auto axes = request.value("axes", std::vector<int>{});
      if (source->lends(axes, shape)) copy_axes(*source, out, dataset, axes, links, lost);
    }
  }
  haddr_t offset = HADDR_UNDEF;
  {  // opened again, it has no gaps that libhdf5 knows of, so the data lie behind all else
    const Id out = scratch.opened(false), dataset = owned(H5Dopen2(out, path.c_str(), H5P_DEFAULT));
    offset = allocated(dataset, *type);
  }
  const haddr_t size = scratch.size();
  if (offset == HADDR_UNDEF) offset = size;
  header = scratch.beginning(offset);
  return {{"offset", offset}, {"size", size}, {"lost", lost}};
}

}  // namespace xorder_hdf5
