#include "fuzz.hpp"
#include "io/format/npy_header.hpp"

namespace xorder::fuzz {

std::vector<std::string> seeds() {
  const auto header = [](const char* type, std::vector<std::uint64_t> shape, Order order) {
    return io::npy_header(io::parse_dtype(type), shape, order, true);
  };
  std::string all[] = {header("<f8", {3, 4}, Order::c), header("S70", {}, Order::fortran),
                       header("?", {0, 1, 65}, Order::fortran)};
  all[1][6] = 2;
  return {
      all[0], all[1], all[2],
      std::string("\x93NUMPY\3\0\x5a\0\0\0", 12) +
          "{'descr': [('a', '<i2', (2, 3)), (('t', 'n'), [('x', '>c16'), ('', '|V3')])], 'shape': (0x2L,)}"};
}

void parse(std::string_view input) {
  const std::uint64_t offset =
      io::npy_data_offset(input.substr(0, io::npy_preamble_bytes), input.size() + (1 << 20), "it");
  const auto array = io::parse_npy_header(input.substr(0, offset), input.size() + (1 << 20), "it");
  // What is written of it is read as the same.
  const std::string again = io::npy_header(array.dtype, array.extents, array.order());
  const auto same = io::parse_npy_header(again, again.size() + array.bytes(), "again");
  must(same.dtype == array.dtype && same.extents == array.extents && same.order() == array.order() &&
       same.offset == again.size());
}

}  // namespace xorder::fuzz
