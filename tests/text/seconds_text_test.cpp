#include "text/seconds_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "seed.hpp"

namespace xorder {
namespace {

TEST(SecondsText, Examples) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(0.35321), "0.353 s");
  EXPECT_EQ(seconds_text(118.2), "118 s");
  EXPECT_EQ(seconds_text(1410), "23.5 min");
  EXPECT_EQ(seconds_text(14299), "3.97 h");
  EXPECT_EQ(seconds_text(94381), "26.2 h");
  EXPECT_EQ(seconds_text(12.4 * 86400), "12.4 days");
  EXPECT_EQ(seconds_text(999.7 * 86400), "1000 days");
}

TEST(SecondsText, TellsTheTimeToHalfAPercent) {
  const std::map<std::string, double> units{{"s", 1}, {"min", 60}, {"h", 3600}, {"days", 86400}};
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 10000; ++i) {
    const double seconds = std::pow(10, static_cast<double>(random.in(0, 12000)) / 1000 - 3);
    const std::string text = seconds_text(seconds);
    EXPECT_EQ(text.find('e'), std::string::npos) << text;
    std::istringstream words(text);
    double number = 0;
    std::string unit;
    words >> number >> unit;
    ASSERT_TRUE(units.contains(unit)) << text;
    EXPECT_NEAR(number * units.at(unit), seconds, 0.0051 * seconds) << text;
  }
}

}  // namespace
}  // namespace xorder
