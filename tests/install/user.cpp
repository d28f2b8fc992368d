// Reorders a file and an array in memory with nothing but the installed headers and library; exits 0 if both
// are right.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>
#include <xorder/xorder.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  std::vector<std::uint32_t> data(256), expected(256), got(256);
  for (std::uint32_t i = 0; i < 256; ++i) data[i] = i * i;
  const auto map = xorder::parse_expression("gray * bitreverse", 8);
  for (std::uint32_t i = 0; i < 256; ++i) expected[map(i)] = data[i];

  xorder::memory::permute(xorder::mapping_of_all({{256}, 4}, map), data, got);
  if (got != expected) return 1;

  std::ofstream(directory + "/in.raw", std::ios::binary)
      .write(reinterpret_cast<const char*>(data.data()), 1024);
  try {
    const auto in =
        xorder::io::open_array(directory + "/in.raw", xorder::io::RawLayout{xorder::io::parse_dtype("u4")});
    xorder::work::Options options;
    options.overwrite = true;
    xorder::Job job(in, xorder::mapping_of_all([&](int) { return map; }), directory + "/out.raw", options);
    std::cout << job.describe();
    job.run();
  } catch (const xorder::Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  std::ifstream(directory + "/out.raw", std::ios::binary).read(reinterpret_cast<char*>(got.data()), 1024);
  return got == expected ? 0 : 1;
}
