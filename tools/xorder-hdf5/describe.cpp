#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "hdf5.hpp"

namespace xorder_hdf5 {
namespace {

using nlohmann::json;

// Why an array cannot be read.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::size_t most_arrays = 65536;

std::string quoted(const char* text) {
  std::string literal = "'";
  for (const char* c = text; *c != 0; ++c) {
    if (*c == '\'' || *c == '\\') literal += '\\';
    if (const auto code = static_cast<unsigned char>(*c); code < ' ')
      literal += fmt::format("\\x{:02x}", code);
    else
      literal += *c;
  }
  return literal + "'";
}

std::string in_quotes(char order, char kind, std::size_t bytes) {
  return fmt::format("'{}{}{}'", bytes == 1 ? '|' : order, kind, bytes);
}

char order_of(hid_t type) {
  switch (H5Tget_order(type)) {
    case H5T_ORDER_LE:
      return '<';
    case H5T_ORDER_BE:
      return '>';
    default:
      throw Refused("its numbers have a byte order that NumPy does not know");
  }
}

std::string integer(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || H5Tget_precision(type) != 8 * bytes)
    throw Refused(fmt::format("its integers have {} bits in {} bytes, for which NumPy has no type",
                              H5Tget_precision(type), bytes));
  const bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
  return in_quotes(order_of(type), is_signed ? 'i' : 'u', bytes);
}

std::string real(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  std::size_t sign, exponent, exponent_bits, mantissa, mantissa_bits;
  checked(H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits));
  const bool half = bytes == 2 && sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0 &&
                    mantissa_bits == 10 && H5Tget_ebias(type) == 15;
  const bool ieee = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0 ||
                    H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
  if (!half && !ieee && H5Tequal(type, H5T_NATIVE_LDOUBLE) <= 0)
    throw Refused(fmt::format("its floating-point numbers of {} bytes are none of NumPy's", bytes));
  return in_quotes(order_of(type), 'f', bytes);
}

// h5py's booleans.
bool is_boolean(hid_t type) {
  signed char value = -1;
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
         H5Tenum_valueof(type, "FALSE", &value) >= 0 && value == 0 &&
         H5Tenum_valueof(type, "TRUE", &value) >= 0 && value == 1;
}

// Times, which h5py tags with NumPy's name for them.
std::string opaque(hid_t type) {
  constexpr std::string_view mark = "NUMPY:";
  char* const tag = H5Tget_tag(type);
  const std::string text = tag == nullptr ? "" : tag;
  H5free_memory(tag);
  const bool marked = text.starts_with(mark) && text.find_first_of("Mm", mark.size()) == mark.size() + 1;
  if (marked && H5Tget_size(type) == 8) return quoted(text.c_str() + mark.size());
  return fmt::format("'|V{}'", H5Tget_size(type));
}

// Takes what arrays there are from `type`: their extents, slowest first.
std::vector<hsize_t> taken_extents(Id& type) {
  std::vector<hsize_t> extents;
  while (H5Tget_class(type) == H5T_ARRAY) {
    std::vector<hsize_t> dims(static_cast<std::size_t>(checked(H5Tget_array_ndims(type))));
    checked(H5Tget_array_dims2(type, dims.data()));
    extents.insert(extents.end(), dims.begin(), dims.end());
    type = owned(H5Tget_super(type));
  }
  return extents;
}

struct Field {
  std::size_t offset = 0, bytes = 0;
  std::string name{}, descr{};
  std::vector<hsize_t> extents{};
};

std::string structure(hid_t type) {
  std::vector<Field> fields;
  for (unsigned i = 0, count = static_cast<unsigned>(checked(H5Tget_nmembers(type))); i < count; ++i) {
    Id member = owned(H5Tget_member_type(type, i));
    Field field{.offset = H5Tget_member_offset(type, i), .bytes = H5Tget_size(member)};
    char* const name = H5Tget_member_name(type, i);
    if (name == nullptr) throw std::runtime_error(hdf5_reason());
    field.name = quoted(name);
    H5free_memory(name);
    field.extents = taken_extents(member);
    field.descr = descr_of(member);
    fields.push_back(std::move(field));
  }
  // h5py's complex numbers.
  if (fields.size() == 2 && fields[0].name == "'r'" && fields[1].name == "'i'" && fields[0].offset == 0 &&
      fields[0].descr == fields[1].descr && fields[0].extents.empty() && fields[1].extents.empty() &&
      fields[1].offset == fields[0].bytes && H5Tget_size(type) == 2 * fields[0].bytes &&
      fields[0].descr[2] == 'f' && fields[0].bytes > 2)
    return in_quotes(fields[0].descr[1], 'c', 2 * fields[0].bytes);
  std::ranges::sort(fields, {}, &Field::offset);
  std::vector<std::string> items;
  std::size_t at = 0;
  const auto fill = [&](std::size_t up_to) {
    if (up_to < at) throw Refused("its fields overlap");
    if (up_to > at) items.push_back(fmt::format("('', '|V{}')", up_to - at));
  };
  for (const Field& field : fields) {
    fill(field.offset);
    const auto& extents = field.extents;
    items.push_back(extents.empty() ? fmt::format("({}, {})", field.name, field.descr)
                                    : fmt::format("({}, {}, ({}{}))", field.name, field.descr,
                                                  fmt::join(extents, ", "), extents.size() == 1 ? "," : ""));
    at = field.offset + field.bytes;
  }
  fill(H5Tget_size(type));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace

std::string descr_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
      return integer(type);
    case H5T_ENUM:
      return is_boolean(type) ? "'|b1'" : integer(owned(H5Tget_super(type)));
    case H5T_FLOAT:
      return real(type);
    case H5T_STRING:
      if (H5Tis_variable_str(type) != 0)
        throw Refused(
            "its strings have variable lengths; in Python: numpy.save(OUT, file[NAME][()].astype('S')), with "
            "h5py");
      return fmt::format("'|S{}'", H5Tget_size(type));
    case H5T_OPAQUE:
      return opaque(type);
    case H5T_COMPOUND:
      return structure(type);
    case H5T_VLEN:
      throw Refused("its elements are sequences of variable lengths");
    case H5T_REFERENCE:
      throw Refused("its elements are references to other parts of the file");
    case H5T_TIME:
      throw Refused("its elements are times of HDF5's, for which NumPy has no type");
    default:
      throw std::runtime_error(hdf5_reason());
  }
}

Id element_type(hid_t dataset) {
  Id type = owned(H5Dget_type(dataset));
  taken_extents(type);
  return type;
}

namespace {

// Where a dataset's elements lie; throws Refused if that is not in one piece.
void place(hid_t dataset, json& array) {
  const Id properties = owned(H5Dget_create_plist(dataset));
  constexpr const char* repack = "make it contiguous: h5repack -l CONTI IN OUT";
  const int filters = H5Pget_nfilters(properties);
  switch (H5Pget_layout(properties)) {
    case H5D_CHUNKED:
      array["storage"] = filters > 0 ? "compressed" : "chunked";
      throw Refused(fmt::format("it is stored in {}chunks; {}", filters > 0 ? "compressed " : "", repack));
    case H5D_COMPACT:
      array["storage"] = "compact";
      throw Refused(fmt::format("it is stored in its header (compact); {}", repack));
    case H5D_VIRTUAL:
      array["storage"] = "virtual";
      throw Refused(fmt::format("it is virtual, made of other datasets; {}", repack));
    case H5D_CONTIGUOUS:
      break;
    default:
      throw std::runtime_error(hdf5_reason());
  }
  if (H5Pget_external_count(properties) > 0) {
    array["storage"] = "external";
    throw Refused(fmt::format("its data lie in other files; {}", repack));
  }
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset != HADDR_UNDEF) {
    array["offset"] = offset;
  } else {
    array["offset"] = 0;
    if (std::ranges::count(array["shape"], json(0)) != 0) return;
    array["storage"] = "none";
    throw Refused("it has no data: nothing was written to it");
  }
}

std::string last_part(hid_t object) {
  std::string name(4096, '\0');
  const ssize_t length = H5Iget_name(object, name.data(), name.size());
  name.resize(length < 0 ? 0 : std::min(static_cast<std::size_t>(length), name.size() - 1));
  return name.substr(name.rfind('/') + 1);
}

// From labels, or else from the dimension scales, as those of NetCDF-4. Empty unless all axes have names.
std::vector<std::string> axis_names(hid_t dataset, std::size_t axes) {
  std::vector<std::string> names;
  if (axes == 1 && H5DSis_scale(dataset) > 0) return {last_part(dataset)};
  for (unsigned i = 0; i < axes; ++i) {
    char label[256] = "";
    std::string name;
    if (H5DSget_label(dataset, i, label, sizeof label) > 0) name = label;
    const auto take = [](hid_t, unsigned, hid_t scale, void* to) -> herr_t {
      *static_cast<std::string*>(to) = last_part(scale);
      return 1;
    };
    if (name.empty()) H5DSiterate_scales(dataset, i, nullptr, take, &name);
    if (name.empty()) return {};
    names.push_back(name);
  }
  return names;
}

std::string note_of(hid_t dataset) {
  std::vector<const char*> packed;
  for (const char* name : {"scale_factor", "add_offset", "_Unsigned"})
    if (H5Aexists(dataset, name) > 0) packed.push_back(name);
  if (packed.empty()) return "";
  return fmt::format("its numbers stand for others ({}); they are moved as they are stored",
                     fmt::join(packed, ", "));
}

json described(hid_t dataset) {
  json array{{"storage", "contiguous"}, {"refusal", ""}};
  try {
    Id type = owned(H5Dget_type(dataset));
    const Id space = owned(H5Dget_space(dataset));
    if (H5Sget_simple_extent_type(space) == H5S_NULL) {
      array["storage"] = "none";
      throw Refused("it has no data");
    }
    std::vector<hsize_t> extents(static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space))));
    checked(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
    const std::vector<std::string> names = axis_names(dataset, extents.size());
    const std::vector<hsize_t> inner = taken_extents(type);
    if (inner.empty()) array["axes"] = names;
    extents.insert(extents.end(), inner.begin(), inner.end());
    array["descr"] = descr_of(type);
    array["element_bytes"] = H5Tget_size(type);
    array["shape"] = extents;
    array["note"] = note_of(dataset);
    place(dataset, array);
  } catch (const Refused& refused) {
    array["refusal"] = refused.what();
  } catch (const std::runtime_error& error) {
    array["refusal"] = fmt::format("damaged: {}", error.what());
  }
  return array;
}

struct Visit {
  json arrays = json::array();
  std::map<haddr_t, std::size_t> known;  // where each dataset is in `arrays`
  Id access;                             // does not follow links to other files
};

// Each link once. A dataset's other names are aliases.
herr_t visit(hid_t root, const char* name, const H5L_info_t* link, void* data) {
  Visit& all = *static_cast<Visit*>(data);
  const std::string path = fmt::format("/{}", name);
  if (link->type == H5L_TYPE_EXTERNAL) {
    all.arrays.push_back(
        {{"name", path}, {"storage", "external"}, {"refusal", "a link to another file; name that file"}});
    return 0;
  }
  H5O_info_t object;
  if (H5Oget_info_by_name(root, name, &object, all.access) < 0) {
    if (link->type == H5L_TYPE_HARD)
      all.arrays.push_back({{"name", path}, {"storage", "none"}, {"refusal", "damaged: " + hdf5_reason()}});
    return 0;
  }
  if (object.type != H5O_TYPE_DATASET) return 0;
  if (const auto [place, is_new] = all.known.try_emplace(object.addr, all.arrays.size()); !is_new) {
    all.arrays[place->second]["aliases"].push_back(path);
    return 0;
  }
  const Id dataset(H5Dopen2(root, name, all.access));
  json array{{"storage", "none"}, {"refusal", "damaged: " + (dataset < 0 ? hdf5_reason() : "")}};
  if (dataset >= 0) array = described(dataset);
  array["name"] = path;
  array["aliases"] = json::array();
  all.arrays.push_back(std::move(array));
  return all.arrays.size() > most_arrays ? 1 : 0;
}

}  // namespace

json describe(const char* path) {
  const Id file = owned(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
  Visit all;
  all.access = owned(H5Pcreate(H5P_DATASET_ACCESS));
  const auto stay = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                       void*) -> herr_t { return -1; };
  checked(H5Pset_elink_cb(all.access, stay, nullptr));
  if (checked(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &all)) > 0)
    throw std::runtime_error(fmt::format("more than {} datasets, the most that are read", most_arrays));
  return {{"arrays", std::move(all.arrays)}};
}

}  // namespace xorder_hdf5
