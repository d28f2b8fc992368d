#include "xorder/error.hpp"

#include <fmt/format.h>

#include <cstring>

namespace xorder {
namespace {

std::string describe(const std::string& path, const std::string& operation, int code,
                     std::optional<std::uint64_t> offset) {
  char buffer[128];
  const char* reason = strerror_r(code, buffer, sizeof buffer);
  return offset ? fmt::format("{}: {} at byte {}: {}", path, operation, *offset, reason)
                : fmt::format("{}: {}: {}", path, operation, reason);
}

}  // namespace

IoError::IoError(std::string path, std::string operation, int code, std::optional<std::uint64_t> offset)
    : Error(describe(path, operation, code, offset), code), path_(std::move(path)), offset_(offset) {}

IoError::IoError(std::string path, const std::string& reason)
    : Error(path + ": " + reason), path_(std::move(path)) {}

}  // namespace xorder
