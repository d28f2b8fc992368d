#include "fuzz.hpp"
#include "xorder/io/array_view.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  return {"<f8", "float64", "complex64",       "V24",
          "S70", "=U3",     "datetime64[25s]", "[('a', '<i2', (2, 3)), ('b', [('c', '>c16')])]"};
}

void parse(std::string_view input) {
  const io::DType type = io::parse_dtype(input);
  must(type.bytes >= 1 && type.bytes <= io::max_element_bytes);
  const auto array = io::ArrayDescription::contiguous(type, {3}, Order::c, 0);
  must(io::in_byte_order(array, io::ByteOrder::big).dtype.bytes == type.bytes);
}

}  // namespace xorder::fuzz
