#include "xorder/error.hpp"

#include <fmt/format.h>

#include "text/reason.hpp"

namespace xorder {
namespace {

std::string describe(const std::string& path, const std::string& operation, int code,
                     std::optional<std::uint64_t> offset) {
  return offset ? fmt::format("{}: {} at byte {}: {}", path, operation, *offset, reason(code))
                : fmt::format("{}: {}: {}", path, operation, reason(code));
}

}  // namespace

IoError::IoError(std::string path, std::string operation, int code, std::optional<std::uint64_t> offset)
    : Error(describe(path, operation, code, offset), code), path_(std::move(path)), offset_(offset) {}

IoError::IoError(std::string path, const std::string& reason)
    : Error(path + ": " + reason), path_(std::move(path)) {}

}  // namespace xorder
