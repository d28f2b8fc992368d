// The headers of real files; npy_header_test.cpp has the headers themselves, npy_numpy_test.cpp NumPy's view
// of them.
#include "io/format/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class NpyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "xorder-npy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  File make(std::string_view bytes, Access access = Access::buffered) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return File::open_input(path(), access);
  }
  std::string path() const { return directory_ / "in.npy"; }
  std::string refusal(std::string_view bytes) const {
    try {
      read_npy_header(make(bytes));
      return "not refused";
    } catch (const InputError& error) {
      return error.what();
    }
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(NpyFile, IsReadWithAnyAccess) {
  const std::string bytes = npy_header(parse_dtype(">i4"), {3, 4}) + std::string(48, 'x');
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    const File file = make(bytes, access);
    EXPECT_TRUE(is_npy(file));
    const ArrayDescription array = read_npy_header(file);
    EXPECT_EQ(array.dtype, parse_dtype(">i4"));
    EXPECT_THAT(array.extents, ElementsAre(3, 4));
    EXPECT_EQ(array.order(), Order::c);
    EXPECT_EQ(array.offset, 4096u);
  }
}

TEST_F(NpyFile, IsToldByItsMagicString) {
  for (const std::string_view bytes :
       {"", "\x93", "\x93NUMP", "NUMPY\x01", "raw data that is longer than a preamble"}) {
    EXPECT_FALSE(is_npy(make(bytes)));
    EXPECT_THAT(refusal(bytes), AllOf(StartsWith(path() + ": "), HasSubstr("not an .npy file")));
  }
  EXPECT_TRUE(is_npy(make("\x93NUMPY")));
  EXPECT_THAT(refusal("\x93NUMPY"), HasSubstr("truncated"));
}

TEST_F(NpyFile, IsRefusedWhereItIsCutOff) {
  const std::string bytes = npy_header(parse_dtype("f8"), {3, 4}) + std::string(96, 'x');
  for (const std::size_t size : {6, 7, 8, 9, 10, 11, 12, 13, 100, 4095, 4096, 4097, 4191})
    EXPECT_THAT(refusal(bytes.substr(0, size)), AllOf(StartsWith(path() + ": "), HasSubstr("truncated")))
        << size;
  EXPECT_EQ(refusal(bytes), "not refused");
  EXPECT_EQ(refusal(bytes + "x"), "not refused");
}

// A header that claims 4 GiB in a file that has them is not read at all.
TEST_F(NpyFile, IsNotReadBeyondTheLimit) {
  make(std::string("\x93NUMPY\x03\0\0\0\0\xff", 12));
  std::filesystem::resize_file(path(), std::uint64_t{5} << 30);
  EXPECT_THROW(read_npy_header(File::open_input(path(), Access::buffered)), InputError);
}

}  // namespace
}  // namespace xorder::io
