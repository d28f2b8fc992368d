// The checker must see what is wrong: schedules that are right, and then damaged.
#include "xorder/schedule/check.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "schedule/banded/banded.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/rounds.hpp"
#include "schedule/routed/isotropic.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::schedule {
namespace {

// A schedule written out, so that it can be damaged.
class Written : public Schedule {
 public:
  explicit Written(const Schedule& original)
      : Schedule(original.network(), original.slots(), original.steps(), original.lower_bound()),
        original_(original),
        messages_(original.steps()),
        updates_(original.steps()) {
    for (std::size_t step = 0; step < messages_.size(); ++step) {
      original.messages(step, messages_[step]);
      original.updates(step, updates_[step]);
    }
  }
  void messages(std::uint64_t step, std::vector<Message>& out) const override { out = messages_[step]; }
  void updates(std::uint64_t step, std::vector<Update>& out) const override { out = updates_[step]; }
  std::optional<Place> goal(Place start) const override { return original_.goal(start); }
  std::optional<Recurrence> recurrence() const override { return original_.recurrence(); }

  std::vector<Message>& at(std::size_t step) { return messages_[step]; }
  std::vector<Update>& updates_at(std::size_t step) { return updates_[step]; }

 private:
  const Schedule& original_;
  std::vector<std::vector<Message>> messages_;
  std::vector<std::vector<Update>> updates_;
};

std::vector<std::unique_ptr<Schedule>> examples() {
  std::vector<std::unique_ptr<Schedule>> all;
  all.push_back(std::make_unique<Exchange>(4, Exchange::Kind::transposition));
  all.push_back(std::make_unique<Exchange>(3, Exchange::Kind::bit_reversal));
  all.push_back(std::make_unique<Isotropic>(std::vector<gf2::Word>{7, 3, 12, 1, 6}, 4));
  all.push_back(std::make_unique<Banded>(5, 2));
  all.push_back(std::make_unique<BandedBatch>(5, 2, 2));
  all.push_back(std::make_unique<Mesh>(9, Mesh::Routing::any));
  all.push_back(std::make_unique<Mesh>(8, Mesh::Routing::xy));
  all.push_back(std::make_unique<Aspc>(4, Aspc::Halves::both));
  all.push_back(std::make_unique<Descend>(3, 2, Descend::Order::descend));
  all.push_back(std::make_unique<Descend>(3, 2, Descend::Order::ascend));
  all.push_back(std::make_unique<Rounds>(bmmc::bit_reverse(8), 3, 2));
  return all;
}

// Does something to a random message of a random step that has two at least; all must be found out.
void expect_caught(
    const std::function<void(Written&, std::vector<Message>&, std::size_t, test::Random&)>& damage) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto& original : examples()) {
    ASSERT_TRUE(check(*original).correct());
    for (int i = 0; i < 40; ++i) {
      Written written(*original);
      std::size_t step = 0;
      do {
        step = random.in(std::size_t{0}, static_cast<std::size_t>(written.steps()) - 1);
      } while (written.at(step).size() < 2);
      std::vector<Message>& messages = written.at(step);
      damage(written, messages, random.in(std::size_t{0}, messages.size() - 1), random);
      const CheckReport report = check(written);
      ASSERT_FALSE(report.correct()) << "step " << step << " of " << written.steps();
      ASSERT_FALSE(report.first_fault.empty());
    }
  }
}

TEST(Check, SeesAMessageThatIsMissing) {
  expect_caught([](Written&, std::vector<Message>& messages, std::size_t i, test::Random&) {
    while (messages[i].from == messages[i].to) i = (i + 1) % messages.size();  // that one would not be missed
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
  });
}

TEST(Check, SeesALinkUsedTwice) {
  expect_caught([](Written&, std::vector<Message>& messages, std::size_t i, test::Random&) {
    while (messages[i].from.node == messages[i].to.node) i = (i + 1) % messages.size();
    const Message again = messages[i];
    messages.push_back(again);
  });
}

TEST(Check, SeesTwoSlotsExchanged) {
  expect_caught([](Written&, std::vector<Message>& messages, std::size_t i, test::Random& random) {
    std::size_t k = i;
    while (k == i) k = random.in(std::size_t{0}, messages.size() - 1);
    std::swap(messages[i].to, messages[k].to);
    std::swap(messages[i].via, messages[k].via);
  });
}

TEST(Check, SeesTheWrongSlotSent) {
  expect_caught([](Written& s, std::vector<Message>& messages, std::size_t i, test::Random& random) {
    if (s.slots() == 1) {
      messages[i].from.node ^= 1;
    } else {
      const std::uint64_t right = messages[i].from.slot;
      while (messages[i].from.slot == right)
        messages[i].from.slot = random.in(std::uint64_t{0}, s.slots() - 1);
    }
  });
}

TEST(Check, SeesTheWrongPlace) {
  expect_caught([](Written& s, std::vector<Message>& messages, std::size_t i, test::Random& random) {
    const Place right = messages[i].to;
    while (messages[i].to == right) {
      messages[i].to = {random.in(Node{0}, s.network().nodes() - 1),
                        random.in(std::uint64_t{0}, s.slots() - 1)};
    }
    messages[i].via = messages[i].to.node;
  });
}

TEST(Check, SeesPlacesThatDoNotExist) {
  expect_caught([](Written& s, std::vector<Message>& messages, std::size_t i, test::Random& random) {
    switch (random.in(0, 4)) {
      case 0:
        messages[i].to.slot = s.slots();
        break;
      case 1:
        messages[i].from.slot = s.slots() + 5;
        break;
      case 2:
        messages[i].to.node = s.network().nodes();
        break;
      case 3:
        messages[i].from.node = ~Node{0};
        break;
      default:
        messages[i].via = s.network().nodes() + 1;
    }
  });
}

// A message that skips a node, and one that turns twice.
TEST(Check, SeesAPathWithAGap) {
  const Mesh mesh(6, Mesh::Routing::any);
  Written written(mesh);
  for (Message& m : written.at(0)) {
    if (m.via != m.to.node && m.via != m.from.node) {
      m.via = m.to.node;
      break;
    }
  }
  EXPECT_EQ(check(written).broken, 1u);
  const Exchange exchange(3, Exchange::Kind::transposition);
  Written jump(exchange);
  jump.at(1)[0].to.node = jump.at(1)[0].via = jump.at(1)[0].from.node ^ 0b111;
  EXPECT_GE(check(jump).broken, 1u);
}

// Steps of an exchange may come in any order; a band's ring packets must come before B uses them.
TEST(Check, SeesABTagBeforeItsRelease) {
  const Exchange exchange(4, Exchange::Kind::transposition);
  Written turned(exchange);
  std::swap(turned.at(0), turned.at(5));
  EXPECT_TRUE(check(turned).correct());
  const Banded banded(4, 2);
  Written early(banded);
  std::swap(early.at(0), early.at(2));
  EXPECT_FALSE(check(early).correct());
}

TEST(Check, CountsEveryConflict) {
  const Mesh mesh(5, Mesh::Routing::any);  // two steps, in one
  Written written(mesh);
  written.at(0).insert(written.at(0).end(), written.at(1).begin(), written.at(1).end());
  written.at(1).clear();
  const CheckReport report = check(written);
  EXPECT_GT(report.conflicts, 1u);
  EXPECT_TRUE(report.complete());
  EXPECT_FALSE(report.correct());
}

TEST(Check, SeesUpdatesThatAreWrong) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto order : {Descend::Order::descend, Descend::Order::ascend}) {
    const Descend descend(3, 2, order);
    for (int i = 0; i < 200; ++i) {
      Written written(descend);
      std::size_t step = 0;
      do {
        step = random.in(std::size_t{0}, static_cast<std::size_t>(written.steps()) - 1);
      } while (written.updates_at(step).empty());
      auto& updates = written.updates_at(step);
      Update& u = updates[random.in(std::size_t{0}, updates.size() - 1)];
      const int kind = random.in(0, 3);
      // Opposite elements have the same neighbour on both sides, from two messages: either will do.
      if (kind == 0 && u.iteration != 4) std::swap(u.plus, u.minus);
      if (kind == 0 && u.iteration == 4) u.plus = u.element;
      if (kind == 1) u.iteration += u.iteration == 0 ? 1 : -1;
      if (kind == 2) u = updates[updates[0] == u ? 1 : 0];
      if (kind == 3) updates.pop_back();
      ASSERT_FALSE(check(written).correct()) << kind << " in step " << step;
    }
  }
}

TEST(Check, RefusesWhatItCannotHold) {
  EXPECT_THROW(check(Exchange(14, Exchange::Kind::transposition)), InputError);
}

}  // namespace
}  // namespace xorder::schedule
