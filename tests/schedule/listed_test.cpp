// Schedules from lists of messages: what is read is what was written, and each wrong line is named.
#include "xorder/schedule/listed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "io/scratch.hpp"
#include "schedule/every_kind.hpp"
#include "schedule/path.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using testing::HasSubstr;

std::string lines_of(const Schedule& s) {
  std::string text;
  std::vector<Message> messages;
  std::vector<Node> path;
  for (std::uint64_t step = 0; step < s.steps(); ++step) {
    s.messages(step, messages);
    for (const Message& m : messages) {
      path = {m.from.node};
      for_each_link(s.network(), m, [&path](Node, Node to) { path.push_back(to); });
      fmt::format_to(std::back_inserter(text),
                     "{{\"step\":{},\"from\":[{},{}],\"to\":[{},{}],\"path\":[{}]}}\n", step, m.from.node,
                     m.from.slot, m.to.node, m.to.slot, fmt::join(path, ","));
    }
  }
  return text;
}

Task task_of(const Schedule& s) {
  Task task{{}, s.lower_bound()};
  for (Node v = 0; v < s.network().nodes(); ++v) {
    for (std::uint64_t slot = 0; slot < s.slots(); ++slot) {
      if (const auto goal = s.goal({v, slot})) task.packets.push_back({{v, slot}, *goal});
    }
  }
  return task;
}

TEST(Listed, IsWhatWasWritten) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto& [name, original] : test::every_kind(random)) {
    if (original->recurrence()) continue;  // its updates are not in the list
    const std::string text = lines_of(*original);
    const Listed listed =
        Listed::read(text, name, original->network(), task_of(*original), original->slots());
    const CheckReport report = test::expect_correct(listed), before = check(*original);
    EXPECT_EQ(lines_of(listed), text) << name;
    EXPECT_EQ(report.step_crossings, before.step_crossings) << name;
    EXPECT_EQ(report.one_port_steps, before.one_port_steps) << name;
    EXPECT_EQ(report.lower_bound, before.lower_bound) << name;
    EXPECT_TRUE(check(Listed::read(text, name, original->network())).correct()) << name;
  }
}

constexpr const char* three_turns =
    R"({"step": 0, "from": [0, 0], "to": [5, 0], "path": [0, 1, 7, 8, 2, 3, 4, 5]})";

TEST(Listed, PathsTurnAsOftenAsTheyLike) {
  const Listed listed = Listed::read(three_turns, "s", Network::torus(6));
  EXPECT_EQ(check(listed).crossings, 7U);
  EXPECT_EQ(lines_of(listed), "{\"step\":0,\"from\":[0,0],\"to\":[5,0],\"path\":[0,1,7,8,2,3,4,5]}\n");
  EXPECT_EQ(listed.total(), (Schedule::Load{1, 7}));
}

// Network::next() takes the shorter way around a ring; a path in the list may take the longer one.
TEST(Listed, PathsGoTheLongWayRoundIfTheySaySo) {
  for (const std::string path :
       {"0,1,2,3,4,5", "0,6,12,18,24,30", "0,5,4,3,2,1", "0,1,0,5,0", "0,1,2,3,4,5,0"}) {
    const std::string text = fmt::format("{{\"step\":0,\"from\":[0,0],\"to\":[{},0],\"path\":[{}]}}\n",
                                         path.substr(path.rfind(',') + 1), path);
    EXPECT_EQ(lines_of(Listed::read(text, "s", Network::torus(6))), text);
  }
}

TEST(Listed, StraightWaysNeedNoPath) {
  const auto crossings = [](const Network& network, Node from, Node to) {
    return Listed::read(fmt::format(R"({{"step":2,"from":[{},1],"to":[{},0]}})", from, to), "s", network)
        .total()
        .crossings;
  };
  EXPECT_EQ(crossings(Network::mesh(5), 5, 9), 4U);
  EXPECT_EQ(crossings(Network::torus(5), 5, 9), 1U);
  EXPECT_EQ(crossings(Network::mesh(5), 1, 21), 4U);
  EXPECT_EQ(crossings(Network::hypercube(3), 7, 3), 1U);
  EXPECT_EQ(crossings(Network::crossbar(3), 7, 0), 1U);
  EXPECT_EQ(crossings(Network::crossbar(3), 7, 7), 0U);
}

TEST(Listed, TwoMessagesOnALinkAreNamed) {
  const std::string text =
      "{\"step\":0,\"from\":[0,0],\"to\":[1,0]}\n{\"step\":0,\"from\":[0,1],\"to\":[1,1]}\n";
  EXPECT_EQ(
      check(Listed::read(text, "s", Network::hypercube(1))).first_fault,
      "step 0: the link from node 0 to 1 is used twice: by slot 0 of node 0 to slot 0 of node 1, and by "
      "slot 1 of node 0 to slot 1 of node 1");
  EXPECT_THAT(
      check(Listed::read("{\"step\":1,\"from\":[1,0],\"to\":[0,0]}\n{\"step\":1,\"from\":[2,0],\"to\":[0,"
                         "1]}",
                         "s", Network::crossbar(2)))
          .first_fault,
      HasSubstr("step 1: node 0 receives twice: slot 0 of node 1 to slot 0 of node 0, and slot 0 of node 2"));
}

TEST(Listed, WhatDoesNotArriveIsSeen) {
  const Task task = transposition_task(Network::hypercube(1));
  const char* const trade =
      "{\"step\":0,\"from\":[0,1],\"to\":[1,0]}\n{\"step\":0,\"from\":[1,0],\"to\":[0,1]}";
  EXPECT_TRUE(check(Listed::read(trade, "s", Network::hypercube(1), task)).correct());
  EXPECT_EQ(check(Listed::read("", "s", Network::hypercube(1), task)).misplaced, 2U);
  EXPECT_TRUE(check(Listed::read("", "s", Network::hypercube(1))).correct());
  EXPECT_EQ(Listed::read("", "s", Network::hypercube(1), {}, 7).slots(), 7U);
}

TEST(Listed, WrongLinesAreNamed) {
  const std::string good = "{\"step\":0,\"from\":[0,0],\"to\":[1,0],\"path\":[0,1]}\n\n";
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"step 0", "is not a JSON object"},
           {"[0]", "is not a JSON object"},
           {R"({"step":0,"step":1,"from":[0,0],"to":[1,0]})", "is there twice"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"pth":[0,1]})", "the key \"pth\"; expected step"},
           {R"({"from":[0,0],"to":[1,0]})", "step is not a whole number from 0 to 2097151"},
           {R"({"step":-1,"from":[0,0],"to":[1,0]})", "step is not"},
           {R"({"step":1e9,"from":[0,0],"to":[1,0]})", "step is not"},
           {R"({"step":2097152,"from":[0,0],"to":[1,0]})", "step is not"},
           {R"({"step":0,"to":[1,0]})", "from is not [node, slot]"},
           {R"({"step":0,"from":[0,0],"to":[1]})", "to is not [node, slot]"},
           {R"({"step":0,"from":[0,0],"to":[1,-1]})", "to is not [node, slot]"},
           {R"({"step":0,"from":[9,0],"to":[1,0]})", "there is no node 9; the network has 9"},
           {R"({"step":0,"from":[0,99999999],"to":[1,0]})", "slot 99999999 is too large; at most 1864135"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"path":[]})", "path is not a list of nodes"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"path":["0",1]})", "path is not a list of nodes"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"path":[0,9,1]})", "there is no node 9"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"path":[0,4,1]})", "there is no link from node 0 to 4"},
           {R"({"step":0,"from":[0,0],"to":[1,0],"path":[0,3]})",
            "the path goes from node 0 to 3, the message from 0 to 1"},
           {R"({"step":0,"from":[0,0],"to":[4,0]})",
            "no straight way from node 0 to 4; the message needs a path"}}) {
    const std::string message =
        test::message_of<InputError>([&] { Listed::read(good + line, "s.jsonl", Network::mesh(3)); });
    EXPECT_THAT(message, HasSubstr("s.jsonl: line 3: ")) << line;
    EXPECT_THAT(message, HasSubstr(says)) << line;
  }
  EXPECT_THROW(Listed::read(good, "s", Network::mesh(3), {}, 0), InputError);
  EXPECT_THROW(Listed::read(good, "s", Network::mesh(3), Task{{{{0, 1}, {1, 1}}}}, 1), InputError);
  EXPECT_THROW(Listed::read(good, "s", Network::mesh(3), {}, std::uint64_t{1} << 40), InputError);
  EXPECT_THROW(
      Listed::read(R"({"step":0,"from":[0,0],"to":[1,0],"path":[0,2,1]})", "s", Network::crossbar(2)),
      InputError);
  EXPECT_THROW(bit_reversal_task(Network::mesh(4)), InputError);
  EXPECT_THROW(transposition_task(Network::hypercube(13)), InputError);
}

TEST(Task, BoundsOfAnyTaskAreThoseOfItsPackets) {
  EXPECT_EQ(any_task({{{0, 0}, {8, 0}}, {{0, 1}, {5, 0}}, {{0, 2}, {1, 0}}}, Network::mesh(3)).lower_bound,
            2U);
  EXPECT_EQ(any_task({{{0, 0}, {0, 1}}}, Network::torus(3)).lower_bound, 0U);
  EXPECT_EQ(any_task({{{1, 0}, {0, 0}}, {{2, 0}, {0, 1}}}, Network::crossbar(2)).lower_bound, 2U);
  for (int d = 0; d <= 5; ++d) {
    const Network network = Network::hypercube(d);
    for (const Task& task : {transposition_task(network), bit_reversal_task(network)})
      EXPECT_EQ(any_task(task.packets, network).lower_bound, task.lower_bound) << d;
  }
}

}  // namespace
}  // namespace xorder::schedule
