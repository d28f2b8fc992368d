#include "xorder/plan/device.hpp"
#include "fuzz.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {plan::Device::ssd().text(), plan::Device::hdd().text(),
          R"({"points": [[4096, 1e5, 2e5, 3e5], [1048576, 1e9, 1]]})"};
}

void parse(std::string_view input) {
  const plan::Device device = plan::Device::parse(input, "it");
  must(plan::Device::parse(device.text(), "again") == device);
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{1} << 40})
    must(device.read_seconds(1000, bytes) >= 0 && device.write_seconds(1000, bytes) >= 0 &&
         device.both_seconds({10, bytes}, {7, 512}) >= 0);
}

}  // namespace xorder::fuzz
