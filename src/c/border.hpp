// The border between C and C++: no exception crosses it, and every failure leaves a code, a message and an errno.
#pragma once

#include <memory>
#include <utility>

#include "xorder.h"
#include "xorder/error.hpp"

namespace xorder::c {

/// A mistake in the calling program, which no data can excuse.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// Throws ArgumentError that names `what` if the pointer is null.
void require(const void* pointer, const char* what);

/// Keeps the exception that is being handled as the thread's last error, and returns its code. Allocates nothing.
int caught() noexcept;

/// Runs the body of a function that C calls, and turns what it throws into a code.
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

}  // namespace xorder::c
