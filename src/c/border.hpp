// The border between C and C++. No exception crosses it. Every failure leaves a code, a message and an errno.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "xorder.h"
#include "xorder/error.hpp"

namespace xorder::c {

/// A mistake in the calling program, whatever the data.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// An error with its own status code.
class StatusError : public Error {
 public:
  StatusError(int status, const std::string& message) : Error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// Throws an ArgumentError that names `what` if the pointer is null.
void require(const void* pointer, const char* what);

/// Throws ArgumentError if `size`, which the caller gave for an options struct, is below `first_size`, the
/// size in the first version, or above `known_size`.
void check_size(std::size_t size, std::size_t first_size, std::size_t known_size);

/// Returns the first given.size bytes of an options struct of the caller. The rest is 0. Throws as
/// check_size() does.
template <typename Options>
Options known_part(const Options& given, std::size_t first_size) {
  Options options{};
  check_size(given.size, first_size, sizeof options);
  std::memcpy(static_cast<void*>(&options), &given, given.size);
  return options;
}

/// Stores the exception that is being handled as the thread's last error, and returns its code. Allocates
/// nothing.
int caught() noexcept;

/// Runs the body of a function that C calls, and turns exceptions into a code.
template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return XORDER_OK;
  } catch (...) {
    return caught();
  }
}

/// The same for a function that makes an object: `make` returns a std::unique_ptr to it.
template <typename Object, typename Make>
int made(Object** out, const Make& make) noexcept {
  if (out != nullptr) *out = nullptr;
  return guarded([&] {
    require(out, "out");
    *out = make().release();
  });
}

/// The same for a function that tells a text, which `make` returns: puts it into the caller's `text`, as far
/// as there is room for it and a zero.
template <typename Make>
int told(char* text, std::size_t room, std::size_t* length, const Make& make) noexcept {
  return guarded([&] {
    if (room != 0) require(text, "text");
    require(length, "length");
    const std::string whole = make();
    *length = whole.size();
    if (room != 0) text[whole.copy(text, room - 1)] = '\0';
  });
}

}  // namespace xorder::c
