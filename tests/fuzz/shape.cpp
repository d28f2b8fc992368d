#include "arguments.hpp"
#include "fuzz.hpp"
#include "xorder/io/array_view.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {"12,7", "(2, -1, 3)", "84x50", "()", "-1", "0,18446744073709551615"};
}

void parse(std::string_view input) {
  const auto array = io::ArrayDescription::contiguous(io::parse_dtype("<f8"), {30, 20, 7}, Order::c, 100);
  cli::RawShape shape;
  try {
    shape = cli::parse_shape(input, "--shape");
  } catch (const InputError&) {
    return;  // the program escapes what it repeats
  }
  const auto other = io::reshaped(array, shape.extents, shape.inferred_axis);
  must(other.elements() == array.elements() && other.bytes() == array.bytes());
}

}  // namespace xorder::fuzz
