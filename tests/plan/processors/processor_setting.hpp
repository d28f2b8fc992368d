// What plans of virtual processors are made for.
#pragma once

#include <cstdint>
#include <optional>

#include "byte_units.hpp"
#include "plan/processors/processors.hpp"

namespace xorder::test {

inline plan::ProcessorSetting with_processors(std::optional<std::uint64_t> processors,
                                              std::uint64_t memory = 16 * MiB) {
  return {{.memory = memory}, processors};
}

}  // namespace xorder::test
