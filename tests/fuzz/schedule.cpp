#include "fuzz.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/listed.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {
      "{\"step\": 0, \"from\": [0, 0], \"to\": [1, 0]}\n\n{\"step\": 1, \"from\": [1, 0], \"to\": [3, 1], "
      "\"path\": [1, 3]}\n",
      "{\"step\":2,\"from\":[3,2],\"to\":[0,0],\"path\":[3,2,0]}"};
}

void parse(std::string_view input) {
  for (const schedule::Network& network : {schedule::Network::hypercube(2), schedule::Network::torus(3)})
    schedule::check(schedule::Listed::read(input, "it", network));
}

}  // namespace xorder::fuzz
