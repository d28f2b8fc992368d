// Banded transposition by virtual processors against the definition of the storage.
#include <gtest/gtest.h>

#include <fstream>

#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/run/scheduled.hpp"

namespace xorder::run {
namespace {

using test::Random;

class ScheduledBand : public ::testing::Test {
 protected:
  io::ArrayFile input(const std::string& data, const Band& band, std::uint64_t element_bytes) {
    test::write_file(scratch_ / "in.raw", data);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(element_bytes));
    layout.extents = band.extents();
    return io::open_array(scratch_ / "in.raw", layout);
  }
  const test::ScratchDirectory scratch_;
};

std::string expected(const std::string& data, const Band& band, std::uint64_t bytes) {
  std::string out(data.size(), '\0');
  for (std::uint64_t target = 0; target < band.places(); ++target) {
    if (const auto source = band.source(target))
      out.replace(target * bytes, bytes, data, *source * bytes, bytes);
  }
  return out;
}

TEST_F(ScheduledBand, GivesTheTransposedBand) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    Band band;
    band.n = random.in(1, i % 10 == 0 ? 3000 : 70);
    band.lower = random.in(0U, random.in(0U, band.n - 1));
    band.upper = random.in(0U, std::min<std::uint64_t>(band.n - 1 - band.lower, random.in(0, 80)));
    band.cyclic = random.in(0, 1) == 1;
    const std::uint64_t bytes = std::array{1, 2, 3, 4, 8, 16, 24}[random.in(0U, 6U)];
    const int most = static_cast<int>(std::bit_width(band.n)) - 1;
    const std::uint64_t processors = std::uint64_t{1} << random.in(0, std::min(most, 7));
    SCOPED_TRACE(testing::Message() << "N " << band.n << ", KL " << band.lower << ", KU " << band.upper
                                    << (band.cyclic ? ", cyclic, " : ", ") << bytes << " bytes, P "
                                    << processors);
    std::string data(band.places() * bytes, '\0');
    for (char& c : data) c = static_cast<char>(random());
    const EngineChoice engine = random.in(0, 1) == 0 ? EngineChoice::direct : EngineChoice::mapped;
    const auto work = scheduled_band(input(data, band, bytes), band, scratch_ / "out.raw",
                                     {.memory = 64 << 20, .engine = engine, .overwrite = true}, processors);
    const Report report = work->run();
    ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected(data, band, bytes));
    EXPECT_EQ(report.traffic->processors, processors);
  }
}

}  // namespace
}  // namespace xorder::run
