// A thread with a stack of its own.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <system_error>
#include <utility>

namespace xorder {

/// The C library would give stacks back when there are more than 40 MiB of them, and abort if the system does
/// not allow that.
class Thread {
 public:
  /// Starts it. `body` must not throw. Throws std::system_error if the system does not allow one more.
  Thread(std::size_t stack_bytes, std::function<void()> body) : body_(std::move(body)), stack_(stack_bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack_.begin(), stack_bytes);
    const auto run = [](void* self) -> void* {
      static_cast<Thread*>(self)->body_();
      return nullptr;
    };
    const int error = pthread_create(&thread_, &attributes, run, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::system_category());
  }
  /// Waits for its end.
  ~Thread() { pthread_join(thread_, nullptr); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  class Stack {
   public:
    explicit Stack(std::size_t bytes)
        : bytes_(bytes + guard),
          place_(
              mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
      if (place_ == MAP_FAILED) throw std::system_error(errno, std::system_category());
      mprotect(place_, guard, PROT_NONE);
    }
    ~Stack() { munmap(place_, bytes_); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    void* begin() const { return static_cast<std::byte*>(place_) + guard; }

   private:
    static constexpr std::size_t guard = std::size_t{64} << 10;  // pages of any size
    std::size_t bytes_;
    void* place_;
  };

  std::function<void()> body_;
  Stack stack_;
  pthread_t thread_{};
};

}  // namespace xorder
