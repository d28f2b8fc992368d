#include "arguments.hpp"
#include "fuzz.hpp"
#include "xorder/io/array_view.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {"10:20, ::-1, 3", "..., -1", "()", "(5:,)", "::2,:,::-9223372036854775807"};
}

void parse(std::string_view input) {
  const auto array =
      io::ArrayDescription::contiguous(io::parse_dtype("<f8"), {30, 20, 7}, Order::fortran, 100);
  std::vector<io::Index> indices;
  try {
    indices = cli::parse_indices(input, "--select");
  } catch (const InputError&) {
    return;  // the program escapes what it repeats
  }
  const auto part = io::selected(array, indices);
  io::check_layout(part, array.end(), "it");
  must(part.elements() <= array.elements());
  if (part.elements() > 0) must(part.begin() >= array.begin() && part.end() <= array.end());
}

}  // namespace xorder::fuzz
