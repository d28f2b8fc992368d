// The text of journals. What runs make of them is tested in tests/cli/test_resume.py and test_in_place.py.
#include "work/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xorder::work {
namespace {

Journal some_journal() {
  Journal journal;
  journal.words = {"transpose", "a\xff.npy"};
  journal.inputs.emplace_back();
  journal.setting.device = plan::Device::ssd();
  journal.pass = 7;
  journal.seconds = 1.5;
  return journal;
}

TEST(JournalText, IsReadAsItWasWritten) {
  const std::string text = journal_text(some_journal());
  const Journal journal = parse_journal(text, "j");
  EXPECT_EQ(journal.words, some_journal().words);
  EXPECT_EQ(journal.seconds, 1.5);
  EXPECT_EQ(journal_text(journal), text);
}

TEST(JournalText, CountsHaveNoFractions) {
  std::string text = journal_text(some_journal());
  for (const char* const number : {"7.5", "1e30", "-1e300"}) {
    std::string damaged = text;
    damaged.replace(damaged.find("\"pass\":7"), 8, std::string("\"pass\":") + number);
    EXPECT_THROW(parse_journal(damaged, "j"), DamagedJournal) << number;
  }
}

}  // namespace
}  // namespace xorder::work
