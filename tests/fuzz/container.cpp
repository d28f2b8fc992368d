// XORDER_CONTAINER is the name of one in samples.hpp, or its beginning.
#include "fuzz.hpp"
#include "io/container/samples.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const test::Sample& sample : test::samples())
    if (sample.name.starts_with(XORDER_CONTAINER)) all.push_back(sample.header);
  must(!all.empty());
  return all;
}

void parse(std::string_view input) {
  static const std::vector<test::Sample> all = test::samples();
  const std::string text(input);
  bool read = false;
  for (const test::Sample& sample : all) {
    if (read || !sample.name.starts_with(XORDER_CONTAINER)) continue;
    read = !sample.separate;  // the others are read in the same way
    const std::uint64_t data_bytes = sample.separate ? sample.data_bytes : text.size();
    for (const io::ContainedArray& array : sample.parse(text, data_bytes)) {
      if (!array.refusal.empty()) continue;
      const io::ArrayDescription d = array.description();
      io::check_layout(d, data_bytes, "it");
    }
  }
}

}  // namespace xorder::fuzz
