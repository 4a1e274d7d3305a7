#include "controller/core/schedule/head_promise.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::UnorderedElementsAre;

const GangShape kTwoNodes{2, 4, v1::DEVICE_KIND_GPU};

Gang On(const std::string& node, int slots) {
  Gang gang = {{node, {}}};
  for (int i = 0; i < slots; ++i) gang[0].slots.push_back(i);
  return gang;
}

// Node a is free. Node b has a job on 2 slots until 100, and node c one on all slots until 50.
Releases ReleasesOfThree() {
  return {{"a", {0, 0, 0, 0}}, {"b", {100, 100, 0, 0}}, {"c", {50, 50, 50, 50}}};
}

TEST(HeadPromiseTest, IsTheTimeAtWhichEnoughNodesAreFree) {
  EXPECT_EQ(HeadPromise(kTwoNodes, false, ReleasesOfThree()).promised(), 50);
  EXPECT_EQ(HeadPromise({3, 4, v1::DEVICE_KIND_GPU}, false, ReleasesOfThree()).promised(), 100);
  EXPECT_EQ(HeadPromise({3, 2, v1::DEVICE_KIND_GPU}, false, ReleasesOfThree()).promised(), 50);
  EXPECT_EQ(HeadPromise({1, 4, v1::DEVICE_KIND_GPU}, false, ReleasesOfThree()).promised(), 0);
  EXPECT_EQ(HeadPromise({4, 1, v1::DEVICE_KIND_GPU}, false, ReleasesOfThree()).promised(), kNever);
  EXPECT_EQ(HeadPromise({1, 5, v1::DEVICE_KIND_GPU}, false, ReleasesOfThree()).promised(), kNever);
}

TEST(HeadPromiseTest, AJobMayEndInTimeOrLeaveRoom) {
  const HeadPromise promise(kTwoNodes, false, ReleasesOfThree());
  EXPECT_TRUE(promise.Allows(On("a", 4), 50));
  EXPECT_FALSE(promise.Allows(On("a", 1), 51)) << "the head needs all of a";
  EXPECT_TRUE(promise.Allows(On("b", 2), kNever)) << "the head does not need b";
}

TEST(HeadPromiseTest, JobsThatWereLetInCountForTheNext) {
  HeadPromise promise({2, 2, v1::DEVICE_KIND_GPU}, false,
                      {{"a", {0, 0}}, {"b", {0, 9}}, {"c", {9, 9}}});
  ASSERT_EQ(promise.promised(), 9);
  ASSERT_TRUE(promise.Allows(On("b", 1), 20)) << "a and c suffice";
  promise.Take(On("b", 1), 20);
  EXPECT_FALSE(promise.Allows(On("a", 1), 20));
  EXPECT_TRUE(promise.Allows(On("a", 1), 9));
}

TEST(HeadPromiseTest, AHeadThatNeverFitsDelaysNobodyUnlessItKeepsItsNodes) {
  const GangShape shape{4, 4, v1::DEVICE_KIND_GPU};
  EXPECT_TRUE(HeadPromise(shape, false, ReleasesOfThree()).Allows(On("a", 4), kNever));
  EXPECT_FALSE(HeadPromise(shape, true, ReleasesOfThree()).Allows(On("a", 1), 1));
}

TEST(HeadPromiseTest, AllNodesOfTheHeadAreInOneGroup) {
  const NodeGroup ab{.nodes = {"a", "b"}}, c{.nodes = {"c"}};
  HeadPromise promise(kTwoNodes, false, ReleasesOfThree(), {ab, c});
  EXPECT_EQ(promise.promised(), 100) << "a and c are free at 50, but not in one group";
  EXPECT_FALSE(promise.Allows(On("a", 1), 101));
  EXPECT_TRUE(promise.Allows(On("c", 4), kNever)) << "c cannot hold the head";
  EXPECT_EQ(HeadPromise(kTwoNodes, false, ReleasesOfThree(), {c}).promised(), kNever);
  EXPECT_TRUE(HeadPromise(kTwoNodes, true, ReleasesOfThree(), {c}).Allows(On("a", 4), kNever))
      << "the head can never use a";
  // Two groups can hold the head at 9. It loses one of them, but not both.
  HeadPromise either({1, 2, v1::DEVICE_KIND_GPU}, false, {{"a", {9, 9}}, {"c", {9, 9}}},
                     {{.nodes = {"a"}}, c});
  ASSERT_EQ(either.promised(), 9);
  ASSERT_TRUE(either.Allows(On("a", 1), 20));
  either.Take(On("a", 1), 20);
  EXPECT_FALSE(either.Allows(On("c", 1), 20));
}

TEST(HeadPromiseTest, TheSlotsThatAreFreeSoonestAreOccupied) {
  ReleaseTimes slots = {100, 0, 50, 0};
  OccupySlots(3, 70, slots);
  EXPECT_THAT(slots, UnorderedElementsAre(70, 70, 70, 100));
  OccupySlots(9, 80, slots);
  EXPECT_THAT(slots, UnorderedElementsAre(80, 80, 80, 80));
}

TEST(HeadPromiseTest, AClassWithoutALimitHasNoLatestEnd) {
  EXPECT_EQ(LatestEnd({}, 10), kNever);
  EXPECT_EQ(LatestEnd({.longest_hold_ms = 5}, 10), 15);
}

}  // namespace
}  // namespace trainyard::controller
