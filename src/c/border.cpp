#include "c/border.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

namespace xorder::c {
namespace {

// A fixed size, so that running out of memory can be reported too.
struct LastError {
  int code = 0;
  char text[4096] = "", path[4096] = "";
};
thread_local constinit LastError last;

template <std::size_t size>
void copy(const char* text, char (&to)[size]) noexcept {
  const std::size_t length = std::min(std::strlen(text), size - 1);
  std::memcpy(to, text, length);
  to[length] = '\0';
}

int keep(int status, const char* text, int code, const char* path = "") noexcept {
  copy(text, last.text);
  std::replace(last.text, last.text + std::strlen(last.text), '\n', ' ');
  copy(path, last.path);
  last.code = code;
  return status;
}

}  // namespace

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw ArgumentError(std::string(what) + " is NULL");
}

void check_size(std::size_t size, std::size_t first_size, std::size_t known_size) {
  if (size < first_size || size > known_size) {
    throw ArgumentError(fmt::format("options.size is {}; version {} of the library has structs of {} bytes",
                                    size, xorder_version_string(), known_size));
  }
}

int caught() noexcept {
  try {
    throw;
  } catch (const StatusError& e) {
    return keep(e.status(), e.what(), 0);
  } catch (const ArgumentError& e) {
    return keep(XORDER_ERROR_ARGUMENT, e.what(), e.code());
  } catch (const InputError& e) {
    return keep(XORDER_ERROR_INPUT, e.what(), e.code());
  } catch (const IoError& e) {
    return keep(XORDER_ERROR_IO, e.what(), e.code(), e.path().c_str());
  } catch (const Cancelled& e) {
    return keep(XORDER_ERROR_CANCELLED, e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return keep(XORDER_ERROR_MEMORY, "out of memory", ENOMEM);
  } catch (const std::exception& e) {
    return keep(XORDER_ERROR_INTERNAL, e.what(), 0);
  } catch (...) {
    return keep(XORDER_ERROR_INTERNAL, "an exception of an unknown type", 0);
  }
}

}  // namespace xorder::c

int xorder_version(void) { return XORDER_VERSION; }

const char* xorder_version_string(void) {
#define XORDER_TEXT(x) #x
#define XORDER_VERSION_TEXT(major, minor, patch) \
  XORDER_TEXT(major) "." XORDER_TEXT(minor) "." XORDER_TEXT(patch)
  return XORDER_VERSION_TEXT(XORDER_VERSION_MAJOR, XORDER_VERSION_MINOR, XORDER_VERSION_PATCH);
}

const char* xorder_status_text(int status) {
  switch (status) {
    case XORDER_OK:
      return "done";
    case XORDER_ERROR_ARGUMENT:
      return "bad argument";
    case XORDER_ERROR_INPUT:
      return "bad input";
    case XORDER_ERROR_IO:
      return "input or output failed";
    case XORDER_ERROR_CANCELLED:
      return "cancelled";
    case XORDER_ERROR_MEMORY:
      return "out of memory";
    case XORDER_ERROR_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* xorder_last_error(void) { return xorder::c::last.text; }
int xorder_last_errno(void) { return xorder::c::last.code; }
const char* xorder_last_error_path(void) { return xorder::c::last.path; }
