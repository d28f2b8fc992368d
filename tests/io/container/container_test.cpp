// What the parsers of containers make of good headers, and that bad ones cannot hurt.
#include "io/container/container.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "io/container/samples.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using test::Arrays;
using test::message_of;
using test::Sample;
using test::samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Arrays parsed(const Sample& sample) { return sample.parse(sample.header, sample.data_bytes); }

Arrays parsed_fits(const std::string& bytes) {
  HeaderBytes file = test::in_memory(bytes);
  return read_fits(file);
}

Arrays parsed_netcdf(const std::string& bytes) {
  HeaderBytes file = test::in_memory(bytes);
  return read_netcdf(file);
}

Arrays parsed_envi(const std::string& text, std::uint64_t data_bytes = 1000) {
  HeaderBytes file = test::in_memory(text);
  return read_envi(file, data_bytes);
}

TEST(Fits, HeaderUnitsAreArraysOrTheReasonWhyNot) {
  const Arrays arrays = parsed_fits(test::sample_fits());
  ASSERT_EQ(arrays.size(), 4u);
  EXPECT_EQ(arrays[0].name, "0");
  EXPECT_EQ(arrays[0].dtype, parse_dtype(">i2"));
  EXPECT_THAT(arrays[0].extents, ElementsAre(2, 3));
  EXPECT_EQ(arrays[0].offset, 2880u);
  EXPECT_THAT(arrays[0].note, HasSubstr("unsigned"));
  EXPECT_THAT(arrays[0].refusal, IsEmpty());
  EXPECT_EQ(arrays[1].refusal, "it has no data");
  EXPECT_EQ(arrays[2].refusal, "a binary table");
  EXPECT_THAT(arrays[2].aliases, ElementsAre("EVENTS", "EVENTS,1"));
  EXPECT_THAT(arrays[3].aliases, ElementsAre("it's", "it's,2"));
  EXPECT_THAT(arrays[3].extents, ElementsAre(2, 3, 4));
  EXPECT_EQ(arrays[3].dtype, parse_dtype(">f4"));
  EXPECT_EQ(arrays[3].offset, 2880u * 6);
}

TEST(Fits, ATypeForEachBitpix) {
  for (const auto& [bitpix, type] : std::map<int, const char*>{
           {8, "u1"}, {16, ">i2"}, {32, ">i4"}, {64, ">i8"}, {-32, ">f4"}, {-64, ">f8"}}) {
    const std::string header = test::fits_header({"SIMPLE  = T", fmt::format("BITPIX  = {}", bitpix),
                                                  "NAXIS   = 1", "NAXIS1  = 2", "BSCALE  = 2.5D-1"});
    const Arrays arrays = parsed_fits(header + std::string(2880, 'x'));
    EXPECT_EQ(arrays.at(0).dtype, parse_dtype(type));
    EXPECT_THAT(arrays[0].note, HasSubstr("BSCALE = 0.25"));
  }
}

TEST(Fits, OtherUnitsAreCalledByTheirNames) {
  const auto refusal = [](const std::vector<std::string>& more) {
    std::vector<std::string> cards{"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 8",
                                   "NAXIS2  = 4"};
    cards.insert(cards.end(), more.begin(), more.end());
    const std::string first = test::fits_header({"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0"});
    return parsed_fits(first + test::fits_header(cards) + std::string(2880, 'x')).at(1);
  };
  const ContainedArray image =
      refusal({"ZIMAGE  = T", "ZBITPIX = -32", "ZNAXIS  = 2", "ZNAXIS1 = 7", "ZNAXIS2 = 5"});
  EXPECT_THAT(image.refusal, HasSubstr("compressed"));
  EXPECT_STREQ(image.storage, "compressed");
  EXPECT_THAT(image.extents, ElementsAre(5, 7));
  EXPECT_EQ(refusal({}).refusal, "a binary table");
  const std::string groups = test::fits_header({"SIMPLE  = T", "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = 0",
                                                "NAXIS2  = 3", "GROUPS  = T", "PCOUNT  = 2", "GCOUNT  = 5"});
  EXPECT_THAT(parsed_fits(groups + std::string(2880, 'x')).at(0).refusal, HasSubstr("random groups"));
}

TEST(Fits, HeadersThatMakeNoSenseAreRefused) {
  for (const auto& [cards, says] : std::map<std::vector<std::string>, std::string>{
           {{"BITPIX  = 7", "NAXIS   = 0"}, "BITPIX is 7; expected 8, 16"},
           {{"NAXIS   = 0"}, "there is no BITPIX"},
           {{"BITPIX  = 8"}, "there is no NAXIS"},
           {{"BITPIX  = 8", "NAXIS   = 1"}, "there is no NAXIS1"},
           {{"BITPIX  = 8", "NAXIS   = -1"}, "NAXIS is -1"},
           {{"BITPIX  = 8", "NAXIS   = 1000"}, "NAXIS is 1000"},
           {{"BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = -4"}, "NAXIS1 is -4"},
           {{"BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = many"}, "NAXIS1 is \"many\"; expected a whole number"},
           {{"BITPIX  = 64", "NAXIS   = 2", "NAXIS1  = 9223372036854775807", "NAXIS2  = 3"}, "2^64 bytes"},
           {{"BITPIX  = 8", "NAXIS   = 0", "PCOUNT  = -1"}, "negative"}}) {
    std::vector<std::string> all{"SIMPLE  = T"};
    all.insert(all.end(), cards.begin(), cards.end());
    const std::string header = test::fits_header(all);
    EXPECT_THAT(message_of<InputError>([&] { parsed_fits(header); }), HasSubstr("HDU 0: "));
    EXPECT_THAT(message_of<InputError>([&] { parsed_fits(header); }), HasSubstr(says));
  }
}

TEST(NetCdf, VariablesAreArrays) {
  for (const int version : {1, 2, 5}) {
    for (const bool only : {false, true}) {
      const std::string bytes = test::sample_netcdf(version, only);
      const Arrays arrays = parsed_netcdf(bytes);
      const std::uint64_t begin = bytes.size() - (only ? 40 : 52);
      ASSERT_EQ(arrays.size(), only ? 3u : 4u);
      EXPECT_EQ(arrays[0].name, "lat");
      EXPECT_EQ(arrays[0].dtype, parse_dtype(">f8"));
      EXPECT_THAT(arrays[0].extents, ElementsAre(3));
      EXPECT_EQ(arrays[0].offset, begin);
      EXPECT_THAT(arrays[0].axis_names, ElementsAre("lat"));
      EXPECT_THAT(arrays[1].extents, IsEmpty());
      EXPECT_THAT(arrays[2].axis_names, ElementsAre("time", "lat"));
      EXPECT_THAT(arrays[2].extents, ElementsAre(2, 3));
      EXPECT_THAT(arrays[2].note, HasSubstr("scale_factor"));
      // Records of 6 bytes are padded to 8 and followed by 1 byte, padded to 4; those of one variable are not.
      EXPECT_EQ(arrays[2].pitch, only ? 0u : 12u);
      EXPECT_EQ(arrays[2].description().strides.front(), only ? 6 : 12);
      EXPECT_STREQ(arrays[2].storage, only ? "contiguous" : "strided");
      if (only) continue;
      EXPECT_EQ(arrays[3].offset, begin + 36);
    }
  }
}

TEST(NetCdf, TheNumberOfRecordsMayFollowFromTheSize) {
  EXPECT_THAT(parsed_netcdf(test::sample_netcdf(1, true, 0xffffffff)).at(2).extents, ElementsAre(2, 3));
  EXPECT_THAT(parsed_netcdf(test::sample_netcdf(5, false, ~std::uint64_t{0})).at(3).extents, ElementsAre(2));
  EXPECT_THAT(parsed_netcdf(test::sample_netcdf(1, true, 3)).at(2).refusal, HasSubstr("truncated"));
  EXPECT_THAT(parsed_netcdf(test::sample_netcdf(1, true, 0)).at(2).extents, ElementsAre(0, 3));
}

TEST(Nifti, ShapesAreInFortranOrder) {
  for (const int version : {1, 2}) {
    for (const bool little : {true, false}) {
      for (const bool pair : {true, false}) {
        HeaderBytes file = test::in_memory(test::sample_nifti(version, little, pair));
        EXPECT_EQ(is_nifti_pair(file), pair);
        const ContainedArray array = read_nifti(file, pair ? 60 : file.file_bytes()).at(0);
        EXPECT_THAT(array.refusal, IsEmpty());
        EXPECT_EQ(array.dtype, parse_dtype(little ? "<i2" : ">i2"));
        EXPECT_THAT(array.extents, ElementsAre(5, 3, 2));
        EXPECT_EQ(array.order, Order::fortran);
        EXPECT_EQ(array.offset, pair ? 0u : version == 1 ? 352u : 544u);
        EXPECT_THAT(array.note, HasSubstr("scl_slope = 0.5"));
      }
    }
  }
}

TEST(Nifti, ATypeForEachCode) {
  const auto array = [](int code) {
    std::string bytes = test::sample_nifti(1) + std::string(2000, 'x');
    bytes[70] = static_cast<char>(code & 0xff);
    bytes[71] = static_cast<char>(code >> 8);
    HeaderBytes file = test::in_memory(bytes);
    return read_nifti(file, bytes.size()).at(0);
  };
  for (const auto& [code, type] : std::map<int, const char*>{{2, "u1"},
                                                             {8, "<i4"},
                                                             {16, "<f4"},
                                                             {32, "<c8"},
                                                             {64, "<f8"},
                                                             {256, "i1"},
                                                             {512, "<u2"},
                                                             {768, "<u4"},
                                                             {1024, "<i8"},
                                                             {1280, "<u8"},
                                                             {1536, "<f16"},
                                                             {1792, "<c16"},
                                                             {2048, "<c32"}})
    EXPECT_EQ(array(code).dtype, parse_dtype(type));
  EXPECT_EQ(array(128).dtype, (DType{3, "[('R', '|u1'), ('G', '|u1'), ('B', '|u1')]"}));
  EXPECT_EQ(array(2304).dtype->bytes, 4u);
  EXPECT_THAT(array(1).refusal, HasSubstr("data type is 1"));
}

TEST(Hdf5, DatasetsAreArrays) {
  const Arrays arrays = hdf5_arrays(test::sample_hdf5(), 2096);
  ASSERT_EQ(arrays.size(), 4u);
  EXPECT_EQ(arrays[0].name, "/g/a");
  EXPECT_THAT(arrays[0].aliases, ElementsAre("/b"));
  EXPECT_EQ(arrays[0].dtype, parse_dtype(">f4"));
  EXPECT_THAT(arrays[0].extents, ElementsAre(2, 3));
  EXPECT_EQ(arrays[0].offset, 2048u);
  EXPECT_THAT(arrays[0].axis_names, ElementsAre("x", "y"));
  EXPECT_EQ(arrays[1].dtype, (DType{12, "[('a', '<i2'), ('', '|V4'), ('b', '|u1', (3, 2))]"}));
  EXPECT_EQ(arrays[1].note, "a note");
  EXPECT_THAT(arrays[1].refusal, IsEmpty());
  EXPECT_THAT(hdf5_arrays(test::sample_hdf5(), 2095).at(1).refusal, HasSubstr("truncated"));
  EXPECT_STREQ(arrays[2].storage, "compressed");
  EXPECT_EQ(arrays[2].refusal, "it is stored in chunks");
  EXPECT_EQ(arrays[3].dtype, std::nullopt);
}

// The program that describes them may have been taken over by the file.
TEST(Hdf5, DescriptionsThatLieAreRefused) {
  const std::string good = test::sample_hdf5();
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"2048", "-2048"},
                                                        {"2048", "2048.0"},
                                                        {"2048", "\"2048\""},
                                                        {"2048", "18446744073709551616"},
                                                        {"\"offset\":2048,", ""},
                                                        {"[2,3]", "[2,-3]"},
                                                        {"[2,3]", "[2,3,4]"},  // more axes than names
                                                        {"[2,3]", "6"},
                                                        {"[\"x\",\"y\"]", "[1,2]"},
                                                        {"\"element_bytes\":4", "\"element_bytes\":8"},
                                                        {"\"contiguous\"", "\"elsewhere\""},
                                                        {"\"it has no data\"", "\"\""},
                                                        {"it has no data", "two\\nlines"},
                                                        {"a note", "\\u001b[2J"},
                                                        {"[\"/b\"]", "7"},
                                                        {"{\"arrays\":", "{\"others\":"}}) {
    std::string lie = good;
    ASSERT_NE(lie.find(from), lie.npos) << from;
    lie.replace(lie.find(from), from.size(), to);
    EXPECT_THAT(message_of<InputError>([&] { hdf5_arrays(lie, 1 << 20); }), HasSubstr("described it wrongly"))
        << lie;
  }
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string lie = good;
    lie.replace(lie.find(from), from.size(), to);
    return hdf5_arrays(lie, 2096).at(0).refusal;
  };
  EXPECT_THAT(refusal("2048", "18446744073709551615"), HasSubstr("truncated"));
  EXPECT_THAT(refusal("[2,3]", "[4294967296,4294967296]"), HasSubstr("2^63"));
  EXPECT_THAT(refusal("'>f4'", "'nope'"), HasSubstr("unknown type"));
  EXPECT_THAT(refusal("'>f4'", "'O'"), HasSubstr("Python objects"));
  for (const char* other : {"", "[]", "3", "null", "{\"arrays\":3}", "{\"error\":3}"})
    EXPECT_THAT(message_of<InputError>([&] { hdf5_arrays(other, 1); }), HasSubstr("described it wrongly"));
  EXPECT_EQ(message_of<InputError>([] { hdf5_arrays("{\"error\":\"no file\"}", 1); }), "damaged: no file");
}

TEST(Hdf5, AHeaderThatLiesIsRefused) {
  const auto made = [](const std::string& answer) { return hdf5_made(answer + "\nabc", 40); };
  EXPECT_EQ(made(R"({"offset":3,"size":43,"lost":[]})").bytes, "abc");
  EXPECT_THAT(made(R"({"offset":3,"size":43,"lost":["a\n","b"]})").note, HasSubstr(R"("a\n", "b")"));
  for (const char* answer : {R"({"offset":4,"size":44,"lost":[]})", R"({"offset":3,"size":44,"lost":[]})",
                             R"({"offset":3,"size":2,"lost":[]})", R"({"offset":-3,"size":43,"lost":[]})",
                             R"({"offset":3,"size":43,"lost":7})", R"({"offset":3})", "",
                             R"({"offset":3,"size":18446744073709551615})"})
    EXPECT_THAT(message_of<InputError>([&] { made(answer); }), HasSubstr("described it wrongly")) << answer;
  EXPECT_EQ(message_of<InputError>([&] { made(R"({"error":"no type"})"); }), "no type");
}

TEST(Hdf5, AProgramThatHangsIsEnded) {
  const test::ScratchDirectory scratch;
  test::write_file(scratch / "a.h5", "x");
  test::write_file(scratch / "sleep", "#!/bin/sh\nexec sleep 1000\n");
  std::filesystem::permissions(scratch / "sleep", std::filesystem::perms::owner_all);
  setenv("XORDER_HDF5", (scratch / "sleep").c_str(), 1);
  const File file = File::open_input(scratch / "a.h5", Access::buffered);
  EXPECT_THAT(message_of<InputError>([&] { read_hdf5(file, 1); }), HasSubstr("more than 1 second"));
  unsetenv("XORDER_HDF5");
}

TEST(Envi, AxesAreInTheOrderOfTheFile) {
  const ContainedArray array = parsed_envi(test::sample_envi(), 58).at(0);
  EXPECT_THAT(array.refusal, IsEmpty());
  EXPECT_EQ(array.dtype, parse_dtype(">u2"));
  EXPECT_THAT(array.extents, ElementsAre(3, 2, 4));
  EXPECT_THAT(array.axis_names, ElementsAre("lines", "bands", "samples"));
  EXPECT_EQ(array.offset, 10u);
  EXPECT_THAT(parsed_envi(test::sample_envi(), 57).at(0).refusal, HasSubstr("truncated"));
  const std::string fields = "ENVI\nsamples=4\nlines=3\nbands=2\nbyte order=0\n";
  EXPECT_THAT(parsed_envi(fields + "data type=1\ninterleave=bsq\n").at(0).extents, ElementsAre(2, 3, 4));
  EXPECT_THAT(parsed_envi(fields + "data type=1\ninterleave=bip\n").at(0).extents, ElementsAre(3, 4, 2));
  for (const auto& [code, type] : std::map<int, const char*>{{1, "u1"},
                                                             {2, "<i2"},
                                                             {3, "<i4"},
                                                             {4, "<f4"},
                                                             {5, "<f8"},
                                                             {6, "<c8"},
                                                             {9, "<c16"},
                                                             {12, "<u2"},
                                                             {13, "<u4"},
                                                             {14, "<i8"},
                                                             {15, "<u8"}})
    EXPECT_EQ(parsed_envi(fmt::format("{}interleave=bsq\ndata type={}\n", fields, code)).at(0).dtype,
              parse_dtype(type));
}

TEST(Envi, HeadersThatMakeNoSenseAreRefused) {
  const std::string fields = "ENVI\nsamples=4\nlines=3\nbands=2\n";
  for (const auto& [more, says] : std::map<std::string, std::string>{
           {"", "no 'data type'"},
           {"data type=7\nbyte order=0\n", "'data type' is 7"},
           {"data type=2\n", "no 'byte order'"},
           {"data type=2\nbyte order=2\n", "'byte order' is 2"},
           {"data type=1\n", "'interleave' is \"missing\"; expected bsq, bil or bip"},
           {"data type=1\ninterleave=bsx\n", "'interleave' is \"bsx\""},
           {"data type=1\ninterleave=bsq\nbands={1\n", "no } after \"bands\""},
           {"data type=1\ninterleave=bsq\nlines=-3\n", "'lines' is -3"}})
    EXPECT_THAT(message_of<InputError>([&] { parsed_envi(fields + more); }), HasSubstr(says));
  const std::string whole = fields + "data type=1\ninterleave=bsq\n";
  EXPECT_THAT(parsed_envi(whole + "file compression = 1\n").at(0).refusal, HasSubstr("compressed"));
  EXPECT_THAT(parsed_envi(whole + "major frame offsets = {1, 2}\n").at(0).refusal, HasSubstr("frames"));
}

// Whatever a header says: an InputError, or arrays that lie inside the file.
void expect_harmless(const Sample& sample, const std::string& header, std::uint64_t data_bytes) {
  try {
    for (const ContainedArray& array : sample.parse(header, data_bytes)) {
      if (!array.refusal.empty()) continue;
      const ArrayDescription d = array.description();
      EXPECT_LE(d.extents.size(), 64u);
      EXPECT_LE(d.end(), data_bytes);
      checked_bytes(d.shape());
    }
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

TEST(Containers, AreRefusedWhereTheyAreCutOff) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const auto usable = [](const Arrays& arrays) {
      return std::ranges::count_if(arrays, [](const auto& a) { return a.refusal.empty(); });
    };
    EXPECT_GT(usable(parsed(sample)), 0);
    for (std::size_t size = 0; size < sample.header.size(); ++size)
      expect_harmless(sample, sample.header.substr(0, size), sample.separate ? sample.data_bytes : size);
  }
}

TEST(Containers, AreHarmlessWhateverTheirHeadersSay) {
  test::Random random;
  SEED_TRACE(random);
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    for (int round = 0; round < 2000; ++round) {
      std::string header = sample.header;
      for (int changes = random.in(1, 8); changes > 0; --changes) {
        const std::size_t at = random.in(std::size_t{0}, header.size() - 1);
        switch (random.in(0, 4)) {
          case 0:  // a bit
            header[at] = static_cast<char>(header[at] ^ 1 << random.in(0, 7));
            break;
          case 1:  // what numbers like to be
            header[at] = "\0\x7f\x80\xff\x01 '=}{09-"[random.in(0, 12)];
            break;
          case 2:  // a piece from elsewhere
            header.replace(at, 8, header.substr(random.in(std::size_t{0}, header.size() - 1), 8));
            break;
          case 3:
            header.erase(at, random.in(std::size_t{1}, std::size_t{100}));
            break;
          default:
            header.insert(at, std::string(random.in(std::size_t{1}, std::size_t{8}),
                                          static_cast<char>(random.in(0, 255))));
        }
        if (header.empty()) header = " ";
      }
      expect_harmless(sample, header, sample.separate ? sample.data_bytes : header.size());
    }
  }
}

// A file of a terabyte of blanks behind the first bytes is not read.
TEST(Containers, HeadersWithoutEndAreNotReadForEver) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    std::uint64_t read = 0;
    const std::string begin = sample.header.substr(0, 80);
    HeaderBytes file(std::uint64_t{1} << 40, [&](char* to, std::size_t bytes, std::uint64_t offset) {
      read += bytes;
      std::memset(to, ' ', bytes);
      if (offset < begin.size())
        std::memcpy(to, begin.data() + offset, std::min(bytes, begin.size() - offset));
    });
    const auto parse = [&]() -> Arrays {
      if (sample.name == "FITS") return read_fits(file);
      if (sample.name.starts_with("CDF")) return read_netcdf(file);
      if (sample.name == "ENVI") return read_envi(file, file.file_bytes());
      return read_nifti(file, file.file_bytes());
    };
    try {
      for (const ContainedArray& array : parse()) EXPECT_THAT(array.refusal, testing::Not(IsEmpty()));
    } catch (const InputError&) {
    }
    EXPECT_LE(read, 4 * max_header_bytes);
  }
}

TEST(FileAndName, AnExistingPathWinsAndThenTheLongestFile) {
  const test::ScratchDirectory scratch;
  for (const char* name : {"a", "a:b", "c:"}) test::write_file(scratch / name, "x");
  std::filesystem::create_directory(scratch / "d");
  const auto expect = [&](const char* given, const char* file, std::optional<std::string> name) {
    const FileAndName found = file_and_name(scratch / given);
    EXPECT_EQ(found.file, scratch / file) << given;
    EXPECT_EQ(found.name, name) << given;
  };
  expect("a", "a", {});
  expect("a:b", "a:b", {});
  expect("a:c", "a", "c");
  expect("a:b:c", "a:b", "c");
  expect("a:c:d", "a", "c:d");
  expect("a:/entry/data", "a", "/entry/data");
  expect("a:", "a", "");
  expect("c:", "c:", {});
  expect("d:1", "d:1", {});
  expect("missing:1", "missing:1", {});
}

TEST(FileAndName, AnOutputIsNamedByItsSuffix) {
  const test::ScratchDirectory scratch;
  test::write_file(scratch / "old.h5:x", "x");
  const auto expect = [&](const char* given, const char* file, std::optional<std::string> name) {
    const FileAndName found = output_file_and_name(scratch / given);
    EXPECT_EQ(found.file, scratch / file) << given;
    EXPECT_EQ(found.name, name) << given;
  };
  expect("a.h5:/g/x", "a.h5", "/g/x");
  expect("a.h5:", "a.h5", "");
  expect("a:b.H5:c.h5:d", "a:b.H5", "c.h5:d");
  expect("a.h5", "a.h5", {});
  expect("a.npy:/x", "a.npy:/x", {});
  expect("a.nc:x", "a.nc:x", {});
  expect("old.h5:x", "old.h5:x", {});
}

TEST(ChosenArray, IsTheOneOfThatNameOrTheOnlyOne) {
  const Arrays arrays{{.name = "0", .refusal = "it has no data"},
                      {.name = "1", .aliases = {"SCI", "SCI,1"}},
                      {.name = "2", .aliases = {"SCI", "SCI,2"}}};
  const auto says = [&](const Arrays& some, std::optional<std::string> name) {
    return message_of<InputError>([&] { chosen_array(some, name, "x.fits"); });
  };
  EXPECT_EQ(&chosen_array(arrays, "1", "x.fits"), &arrays[1]);
  EXPECT_EQ(&chosen_array(arrays, "SCI,2", "x.fits"), &arrays[2]);
  EXPECT_EQ(says(arrays, {}), "x.fits: has 2 arrays; name one, as x.fits:NAME: 1 (SCI), 2 (SCI)");
  EXPECT_EQ(says(arrays, "SCI"), "x.fits: 2 arrays are named SCI: 1 (SCI), 2 (SCI)");
  EXPECT_EQ(says(arrays, "3"), "x.fits: has no array 3; it has 1 (SCI), 2 (SCI)");
  EXPECT_EQ(says(arrays, "0"), "x.fits:0: it has no data");
  const Arrays one(arrays.begin(), arrays.begin() + 2), none(arrays.begin(), arrays.begin() + 1);
  EXPECT_EQ(&chosen_array(one, {}, "x.fits"), &one[1]);
  EXPECT_EQ(says(none, {}), "x.fits: has no array that can be read; 0: it has no data");
  EXPECT_EQ(says({}, "a"), "x.fits: has no array that can be read");
}

}  // namespace
}  // namespace xorder::io
