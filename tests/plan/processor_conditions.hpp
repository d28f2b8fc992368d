// Conditions for the plans of virtual processors.
#pragma once

#include <cstdint>
#include <optional>

#include "byte_units.hpp"
#include "plan/processors/processors.hpp"

namespace xorder::test {

inline plan::ProcessorConditions conditions(std::optional<std::uint64_t> processors,
                                            std::uint64_t memory = 16 * MiB) {
  return {memory, plan::Device::ssd(), processors};
}

}  // namespace xorder::test
