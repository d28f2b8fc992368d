// Small files of each container, and the parsers that read them.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/container/hdf5.hpp"

namespace xorder::test {

/// A header of an HDU. The first card is SIMPLE or XTENSION.
inline std::string fits_header(const std::vector<std::string>& cards) {
  std::string text;
  for (const std::string& card : cards) text += fmt::format("{:80}", card);
  text += fmt::format("{:80}", "END");
  text.resize((text.size() + 2879) / 2880 * 2880, ' ');
  return text;
}

inline std::string padded(std::string data, std::size_t multiple) {
  data.resize((data.size() + multiple - 1) / multiple * multiple, '\0');
  return data;
}

/// An image of shape (2, 3), one without data, a table, and a cube of floats with a name.
inline std::string sample_fits() {
  return fits_header({"SIMPLE  =                    T / conforms", "BITPIX  =                   16",
                      "NAXIS   =                    2", "NAXIS1  =                    3 / fastest",
                      "NAXIS2  =                    2", "BZERO   =              32768.0"}) +
         padded(std::string(12, 'a'), 2880) +
         fits_header({"XTENSION= 'IMAGE   '", "BITPIX  = 8", "NAXIS   = 0"}) +
         fits_header({"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 10", "NAXIS2  = 4",
                      "PCOUNT  = 7", "GCOUNT  = 1", "EXTNAME = 'EVENTS'"}) +
         padded(std::string(47, 'b'), 2880) +
         fits_header({"XTENSION= 'IMAGE   '", "BITPIX  = -32", "NAXIS   = 3", "NAXIS1  = 4", "NAXIS2  = 3",
                      "NAXIS3  = 2", "PCOUNT  = 0", "GCOUNT  = 1", "EXTNAME = 'it''s   '           / a quote",
                      "EXTVER  = 2"}) +
         padded(std::string(96, 'c'), 2880);
}

/// A number as NetCDF has it.
inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

/// The variables lat (3 doubles), flag (shape (), a byte), and with two records t and s: (2, 3) shorts and
/// (2,) bytes. `only` leaves s out.
inline std::string sample_netcdf(int version, bool only = false, std::uint64_t records = 2) {
  const int size = version == 5 ? 8 : 4, place = version == 1 ? 4 : 8;
  const auto number = [&](std::uint64_t value) { return big_endian(value, size); };
  const auto word = [](std::uint64_t value) { return big_endian(value, 4); };
  const auto named = [&](const std::string& name) { return number(name.size()) + padded(name, 4); };
  const auto none = word(0) + number(0);
  const auto packed =
      word(12) + number(1) + named("scale_factor") + word(6) + number(1) + std::string(8, 'x');
  std::string text;
  std::uint64_t begin = 0;
  for (int round = 0; round < 2; ++round) {  // the second one knows how long the header is
    const auto variable = [&](const std::string& name, const std::string& dimensions, std::uint64_t axes,
                              const std::string& attributes, std::uint64_t type, std::uint64_t at) {
      return named(name) + number(axes) + dimensions + attributes + word(type) + number(24) +
             big_endian(begin + at, place);
    };
    text = "CDF" + std::string(1, static_cast<char>(version)) + number(records) + word(10) + number(2) +
           named("time") + number(0) + named("lat") + number(3) + word(12) + number(1) + named("title") +
           word(2) + number(5) + padded("hello", 4) + word(11) + number(only ? 3 : 4) +
           variable("lat", number(1), 1, none, 6, 0) + variable("flag", "", 0, none, 1, 24) +
           variable("t", number(0) + number(1), 2, packed, 3, 28) +
           (only ? "" : variable("s", number(0), 1, none, 1, 36));
    begin = text.size();
  }
  return text + std::string(28, 'f') + std::string(only ? 12 : 24, 'r');
}

/// An array of shape (5, 3, 2) of shorts.
inline std::string sample_nifti(int version, bool little = true, bool pair = false) {
  std::string header(version == 1 ? 348 : 540, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, int bytes) {
    std::string text = big_endian(value, bytes);
    header.replace(at, text.size(), little ? std::string(text.rbegin(), text.rend()) : text);
  };
  const int size = version == 1 ? 2 : 8;
  const std::size_t dim = version == 1 ? 40 : 16;
  put(0, header.size(), 4);
  std::size_t i = 0;
  for (const std::uint64_t extent : {3, 5, 3, 2})
    put(dim + static_cast<std::size_t>(size) * i++, extent, size);
  put(version == 1 ? 70 : 12, 4, 2);
  if (version == 1) {
    put(108, pair ? 0 : std::bit_cast<std::uint32_t>(352.0F), 4);
    put(112, std::bit_cast<std::uint32_t>(0.5F), 4);
    header.replace(344, 4, std::string(pair ? "ni1" : "n+1") + '\0');
  } else {
    put(168, pair ? 0 : 544, 8);
    put(176, std::bit_cast<std::uint64_t>(0.5), 8);
    header.replace(4, 8, std::string(pair ? "ni2" : "n+2") + std::string("\0\r\n\x1a\n", 5));
  }
  return header + (pair ? "" : std::string(4, '\0') + std::string(60, 'n'));
}

inline std::string sample_envi() {
  return "ENVI\r\ndescription = {\r\n  bands = 7, over\r\n  lines }\r\nsamples = 4\r\nLines   = 3\r\nbands = "
         "2\r\n"
         "; header offset = 9\r\nheader offset = 10\nfile type = ENVI Standard\ndata type = 12\n"
         "interleave = BIL\nbyte order = 1\n";
}

/// What xorder-hdf5 prints of a file that has three arrays of 24 bytes from byte 2048 on, and others.
inline std::string sample_hdf5() {
  return R"({"arrays":[{"name":"/g/a","aliases":["/b"],"storage":"contiguous","refusal":"","descr":"'>f4'",)"
         R"("element_bytes":4,"shape":[2,3],"offset":2048,"axes":["x","y"],"note":""},)"
         R"({"name":"/é","aliases":[],"storage":"contiguous","refusal":"","descr":"[('a', '<i2'), ('', '|V4'), )"
         R"(('b', '|u1', (3, 2)), ]","element_bytes":12,"shape":[2],"offset":2072,"axes":[],"note":"a note"},)"
         R"({"name":"/gz","storage":"compressed","refusal":"it is stored in chunks","descr":"'|b1'",)"
         R"("element_bytes":1,"shape":[9]},{"name":"/none","storage":"none","refusal":"it has no data"}]})";
}

/// A header in memory, of a file of that size.
inline io::HeaderBytes in_memory(const std::string& bytes) {
  return io::HeaderBytes(bytes.size(), [bytes](char* to, std::size_t count, std::uint64_t offset) {
    if (offset > bytes.size() || count > bytes.size() - offset)
      throw std::logic_error("bytes beyond the file were asked for");
    std::memcpy(to, bytes.data() + offset, count);
  });
}

using Arrays = std::vector<io::ContainedArray>;
/// Parses `header`; the data lie in a file of `data_bytes`.
using Parse = std::function<Arrays(const std::string& header, std::uint64_t data_bytes)>;
struct Sample {
  std::string name, header;
  std::uint64_t data_bytes;
  Parse parse;
  bool separate = false;  ///< the data lie in another file
};

inline std::vector<Sample> samples() {
  const auto sample = [](std::string name, std::string header, auto read) {
    const Parse parse = [read](const std::string& bytes, std::uint64_t) {
      io::HeaderBytes file = in_memory(bytes);
      return read(file);
    };
    const std::uint64_t bytes = header.size();
    return Sample{std::move(name), std::move(header), bytes, parse};
  };
  const auto nifti = [](io::HeaderBytes& file) { return io::read_nifti(file, file.file_bytes()); };
  const Parse pair = [](const std::string& bytes, std::uint64_t data_bytes) {
    io::HeaderBytes file = in_memory(bytes);
    return io::read_nifti(file, data_bytes);
  };
  const Parse envi = [](const std::string& bytes, std::uint64_t data_bytes) {
    io::HeaderBytes file = in_memory(bytes);
    return io::read_envi(file, data_bytes);
  };
  return {sample("FITS", sample_fits(), io::read_fits),
          sample("CDF-1", sample_netcdf(1), io::read_netcdf),
          sample("CDF-2", sample_netcdf(2), io::read_netcdf),
          sample("CDF-5", sample_netcdf(5), io::read_netcdf),
          sample("CDF-1 with one record variable", sample_netcdf(1, true), io::read_netcdf),
          sample("NIfTI-1", sample_nifti(1), nifti),
          sample("NIfTI-2", sample_nifti(2, false), nifti),
          {"NIfTI pair", sample_nifti(1, false, true), 60, pair, true},
          {"ENVI", sample_envi(), 58, envi, true},
          {"HDF5", sample_hdf5(), 2096,
           [](const std::string& printed, std::uint64_t bytes) { return io::hdf5_arrays(printed, bytes); },
           true}};
}

}  // namespace xorder::test
