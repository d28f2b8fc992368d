// What schedule tests share: a schedule performed on numbers, and what holds of every good schedule.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "xorder/schedule/check.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::test {

using schedule::Message;
using schedule::Place;
using schedule::Schedule;

/// Every place's content after all steps, if place p began with the number node·slots + slot. Nothing is
/// checked.
inline std::vector<std::uint64_t> carried(const Schedule& s) {
  const auto number = [&](const Place& p) { return p.node * s.slots() + p.slot; };
  std::vector<std::uint64_t> content(s.network().nodes() * s.slots());
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = i;
  std::vector<Message> messages;
  std::vector<std::uint64_t> moving;
  for (std::uint64_t step = 0; step < s.steps(); ++step) {
    s.messages(step, messages);
    moving.clear();
    for (const Message& m : messages) moving.push_back(content[number(m.from)]);
    for (std::size_t i = 0; i < moving.size(); ++i) content[number(messages[i].to)] = moving[i];
  }
  return content;
}

/// The checker is content, and the loads that formulas give are those that it counted.
inline schedule::CheckReport expect_correct(const Schedule& s) {
  const schedule::CheckReport report = check(s);
  EXPECT_TRUE(report.correct()) << report.first_fault;
  EXPECT_GE(report.steps, report.lower_bound);
  Schedule::Load sum;
  for (std::uint64_t step = 0; step < s.steps(); ++step) {
    const Schedule::Load load = s.load(step);
    EXPECT_EQ(load, s.Schedule::load(step)) << "step " << step;
    EXPECT_EQ(load.crossings, report.step_crossings[step]) << "step " << step;
    sum.messages += load.messages;
    sum.crossings += load.crossings;
  }
  EXPECT_EQ(sum, s.total());
  EXPECT_EQ(sum.messages, report.messages);
  EXPECT_EQ(sum.crossings, report.crossings);
  return report;
}

}  // namespace xorder::test
