// What the files of this program share: libhdf5 with handles that close themselves, and errors as exceptions.
#pragma once

#define H5_USE_110_API
#include <hdf5.h>
#include <hdf5_hl.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace xorder_hdf5 {

/// Anything of libhdf5's that has an identifier.
class Id {
 public:
  explicit Id(hid_t id = -1) : id_(id) {}
  ~Id() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

/// Why libhdf5's last call failed, as it says: one line of printable ASCII.
std::string hdf5_reason();

/// The result of a call of libhdf5. Throws std::runtime_error if it failed.
template <class Result>
Result checked(Result result) {
  if (result < 0) throw std::runtime_error(hdf5_reason());
  return result;
}
inline Id owned(hid_t id) { return Id(checked(id)); }

/// Everything in the file at this path: {"arrays": [{"name", "aliases", "storage", "refusal"; and if its type
/// is NumPy's "descr", as in an .npy header, "element_bytes", "shape"; "offset", "axes", "note"}, ..]}.
nlohmann::json describe(const char* path);

/// The type as in an .npy header. Throws std::runtime_error for what no .npy file can have.
std::string descr_of(hid_t type);

/// Of a dataset: without the extents of arrays, which NumPy adds to the shape.
Id element_type(hid_t dataset);

/// The header of a new file with one dataset: all of it up to the data, which are its end and are not
/// written. `request` has its path ("dataset"), "shape", "element_bytes", its type as in an .npy header
/// ("descr") and as lists ("type"). It may name a "source", a dataset of `from`: its attributes are copied,
/// and so is its type, if it is the same. "axes" says which axis of the source each axis is, or -1; dimension
/// scales and labels go with them. Returns the "offset" of the data, the "size" of the whole file, and the
/// names of what is "lost".
nlohmann::json create(const char* from, const nlohmann::json& request, std::string& header);

}  // namespace xorder_hdf5
