#include "controller/core/schedule/slot_plan.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::Contains;
using ::testing::Not;

HeadToPlan PlannedOn(int nodes, int slots, int64_t hold_ms, Releases releases) {
  return {.shape = {nodes, slots, v1::DEVICE_KIND_GPU},
          .hold_ms = hold_ms,
          .releases = std::move(releases)};
}

Gang SlotsOf(const std::string& node, int slots) {
  return {{node, std::vector<int>(static_cast<std::size_t>(slots))}};
}

bool MayStart(const SlotPlan& plan, const Gang& gang, Timestamp end) {
  return plan.Allows({gang, {}, end});
}

// Node a is free from 100 on, node b from 300 on. One slot of node b is free now.
Releases ReleasesOfTwo() { return {{"a", {100, 100}}, {"b", {0, 300}}}; }

TEST(SlotPlanTest, ALaterHeadGetsWhatTheEarlierOnesLeave) {
  SlotPlan plan(0);
  EXPECT_EQ(plan.Add(PlannedOn(1, 2, 50, ReleasesOfTwo())), 100);
  EXPECT_EQ(plan.Add(PlannedOn(1, 2, 500, ReleasesOfTwo())), 150) << "on a after the first head";
  EXPECT_EQ(plan.Add(PlannedOn(1, 2, 10, ReleasesOfTwo())), 300) << "on b";
  EXPECT_EQ(plan.Add(PlannedOn(2, 2, 10, ReleasesOfTwo())), 650) << "on a and b";
  EXPECT_EQ(plan.Add(PlannedOn(3, 2, 10, ReleasesOfTwo())), kNever);
}

TEST(SlotPlanTest, AHeadMayFitBeforeAnEarlierOneIfItEndsInTime) {
  const Releases releases = {{"a", {0, 0}}, {"b", {100, 100}}};
  SlotPlan plan(0);
  EXPECT_EQ(plan.Add(PlannedOn(2, 2, 50, releases)), 100);
  EXPECT_EQ(plan.Add(PlannedOn(1, 2, 60, releases)), 0);
  EXPECT_EQ(plan.Add(PlannedOn(1, 2, 40, releases)), 60);
  EXPECT_EQ(plan.Add(PlannedOn(1, 1, 1, releases)), 150) << "a is taken until 150";
}

TEST(SlotPlanTest, AGangMustNotDelayAnyHead) {
  SlotPlan plan(0);
  plan.Add(PlannedOn(1, 2, 1000, ReleasesOfTwo()));
  ASSERT_EQ(plan.Add(PlannedOn(1, 2, 10, ReleasesOfTwo())), 300);
  EXPECT_TRUE(MayStart(plan, SlotsOf("b", 1), 300));
  EXPECT_FALSE(MayStart(plan, SlotsOf("b", 1), 301)) << "only the second head is delayed";
  EXPECT_THAT(plan.NodesNotToTake(1, {}, 300), Not(Contains("b")));
  EXPECT_THAT(plan.NodesNotToTake(1, {}, 301), Contains("b"));
}

TEST(SlotPlanTest, AGangIsAllowedIfTheHeadsFitOnOtherNodes) {
  const Releases releases = {{"a", {100}}, {"b", {0}}, {"c", {100}}};
  SlotPlan plan(0);
  ASSERT_EQ(plan.Add(PlannedOn(1, 1, 1000, releases)), 0);
  ASSERT_EQ(plan.Add(PlannedOn(1, 1, 1000, releases)), 100);
  EXPECT_FALSE(MayStart(plan, SlotsOf("b", 1), 1));
  SlotPlan later(0);
  ASSERT_EQ(later.Add(PlannedOn(2, 1, 1000, releases)), 100) << "a and b";
  EXPECT_TRUE(MayStart(later, SlotsOf("b", 1), kNever)) << "a and c suffice";
  later.Take({SlotsOf("b", 1), {}, kNever});
  EXPECT_FALSE(MayStart(later, SlotsOf("a", 1), 101));
}

TEST(SlotPlanTest, TheFullestNodesAreTaken) {
  const Releases releases = {{"a", {10, 10, 10, 10}}, {"b", {10, 10}}};
  SlotPlan plan(0);
  ASSERT_EQ(plan.Add(PlannedOn(1, 2, 1000, releases)), 10);
  EXPECT_EQ(plan.Add(PlannedOn(1, 4, 1000, releases)), 10) << "the first head gets b";
}

TEST(SlotPlanTest, AllNodesOfAHeadAreInOneGroup) {
  const Releases releases = {{"a", {10}}, {"b", {20}}, {"c", {30}}};
  SlotPlan plan(0);
  HeadToPlan head = PlannedOn(2, 1, 100, releases);
  head.groups = {{.nodes = {"a", "c"}}, {.nodes = {"b"}}};
  EXPECT_EQ(plan.Add(head), 30);
  EXPECT_EQ(plan.Add(PlannedOn(1, 1, 100, releases)), 20);
  EXPECT_EQ(plan.Add(PlannedOn(1, 1, 15, releases)), 10) << "before the first head";
}

// The recovering head keeps a slot of node a, which is not free for others.
TEST(SlotPlanTest, KeptSlotsAreNotTakenTwice) {
  SlotPlan plan(0);
  HeadToPlan recovering = PlannedOn(1, 2, 100, {{"a", {0, 10, 10}}, {"b", {10, 10}}});
  recovering.kept = {{"a", 1}};
  ASSERT_EQ(plan.Add(recovering), 10);
  const Releases of_others = {{"a", {kNever, 10, 10}}, {"b", {500, 500}}};
  EXPECT_EQ(plan.Add(PlannedOn(1, 1, 100, of_others)), 10) << "the third slot of a";
  EXPECT_EQ(plan.Add(PlannedOn(1, 1, 100, of_others)), 110);
}

// Each rank of the second head needs 2 cores, which the ranks of the first one take as well.
TEST(SlotPlanTest, CoresOfOtherHeadsAreSeats) {
  SlotPlan plan(0);
  HeadToPlan first = PlannedOn(1, 1, 100, {{"a", {0, 0, 0}}});
  first.shape.host.cpus = 4;
  ASSERT_EQ(plan.Add(first), 0);
  HeadToPlan second = PlannedOn(1, 2, 100, {{"a", {0, 0, 0}}});
  second.shape.host.cpus = 2;
  EXPECT_EQ(plan.Add(second), 100) << "the first head takes 2 of 3 seats";
}

// A plan restated with the free slots of each node at each millisecond.
class SlotsByTime {
 public:
  static constexpr int64_t kEnd = 400;

  explicit SlotsByTime(const Releases& releases) {
    for (const auto& [id, slots] : releases) {
      for (std::size_t time = 0; time < kEnd; ++time) {
        const auto is_free = [&](Timestamp slot) { return slot <= static_cast<int64_t>(time); };
        free_[std::string(id)][time] = static_cast<int>(std::ranges::count_if(slots, is_free));
      }
    }
  }

  // Takes the slots of the next head. Returns its time.
  Timestamp Plan(const GangShape& shape, int64_t hold_ms) {
    for (int64_t time = 0; time + hold_ms < kEnd; ++time) {
      std::vector<std::pair<int, std::string>> nodes;
      for (const auto& [id, free] : free_) {
        const auto from = free.begin() + time;
        if (*std::min_element(from, from + hold_ms) >= shape.slots_per_node) {
          nodes.emplace_back(*from, id);
        }
      }
      if (std::ssize(nodes) < shape.nodes) continue;
      std::ranges::sort(nodes);
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.nodes); ++i) {
        const auto from = free_.at(nodes[i].second).begin() + time;
        std::for_each(from, from + hold_ms, [&](int& slots) { slots -= shape.slots_per_node; });
      }
      return time;
    }
    return kNever;
  }

 private:
  std::map<std::string, std::array<int, kEnd>> free_;
};

class SlotPlanRandomTest : public ::testing::TestWithParam<unsigned> {
 protected:
  int Draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  Releases DrawReleases() {
    Releases releases;
    for (const char* id : {"a", "b", "c", "d"}) {
      ReleaseTimes slots;
      for (int i = Draw(1, 4); i > 0; --i) slots.push_back(Draw(0, 3) == 0 ? 0 : Draw(0, 40));
      releases.Add(id, slots);
    }
    return releases;
  }

  std::vector<HeadToPlan> DrawHeads() {
    std::vector<HeadToPlan> heads;
    for (int i = 0; i < 4; ++i) {
      heads.push_back(PlannedOn(Draw(1, 3), Draw(1, 3), Draw(1, 40), {}));
    }
    return heads;
  }

  // Returns the times of the heads in a new plan.
  static std::vector<Timestamp> TimesOf(std::vector<HeadToPlan> heads, const Releases& releases) {
    SlotPlan plan(0);
    std::vector<Timestamp> times;
    for (HeadToPlan& head : heads) {
      head.releases = releases;
      times.push_back(plan.Add(head));
    }
    return times;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(SlotPlanRandomTest, TimesAreThoseOfTheRestatedPlan) {
  const Releases releases = DrawReleases();
  const std::vector<HeadToPlan> heads = DrawHeads();
  const std::vector<Timestamp> times = TimesOf(heads, releases);
  SlotsByTime restated(releases);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    EXPECT_EQ(times[i], restated.Plan(heads[i].shape, heads[i].hold_ms)) << "head " << i;
  }
}

TEST_P(SlotPlanRandomTest, AnAllowedGangDelaysNoHead) {
  Releases releases = DrawReleases();
  const std::vector<HeadToPlan> heads = DrawHeads();
  SlotPlan plan(0);
  for (HeadToPlan head : heads) {
    head.releases = releases;
    plan.Add(head);
  }
  const std::vector<Timestamp> promised = TimesOf(heads, releases);
  for (const char* id : {"a", "b", "c", "d"}) {
    const int free = static_cast<int>(std::ranges::count(*releases.Find(id), 0));
    if (free == 0) continue;
    const Gang gang = SlotsOf(id, Draw(1, free));
    const Timestamp end = Draw(1, 60);
    Releases with = releases;
    OccupySlots(static_cast<int>(gang[0].slots.size()), end, *with.Find(id));
    const std::vector<Timestamp> times = TimesOf(heads, with);
    const bool delays = !std::ranges::equal(times, promised, std::ranges::less_equal());
    ASSERT_EQ(MayStart(plan, gang, end), !delays) << "on " << id;
    if (delays) continue;
    plan.Take({gang, {}, end});
    releases = with;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlotPlanRandomTest, ::testing::Range(0U, 200U));

}  // namespace
}  // namespace trainyard::controller
