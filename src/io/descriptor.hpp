// A file descriptor that closes itself.
#pragma once

#include <utility>

namespace xorder::io {

class Descriptor {
 public:
  Descriptor() = default;
  /// Takes ownership; -1 means none.
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Closes it. Errors are ignored: what matters was synced before.
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace xorder::io
