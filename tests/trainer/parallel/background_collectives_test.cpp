#include "trainer/parallel/background_collectives.h"

#include <gtest/gtest.h>

#include "tests/trainer/parallel/run_ranks.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

TEST(BackgroundCollectivesTest, WhatFollowsSeesTheSum) {
  RunRanks(2, [](Communicator& group) {
    Tensor values = torch::arange(10, torch::kFloat32).mul_(group.rank() + 1);
    Tensor seen;
    BackgroundCollectives collectives(group, torch::kCPU);
    collectives.BeginSum(values, [&] { seen = values.clone(); });
    collectives.Join();
    EXPECT_TRUE(values.equal(torch::arange(10, torch::kFloat32).mul_(3)));
    EXPECT_TRUE(seen.equal(values));
  });
}

TEST(BackgroundCollectivesTest, EachMemberSumsItsPartAndGathersTheOthers) {
  RunRanks(3, [](Communicator& group) {
    Tensor values = torch::arange(6, torch::kFloat32).mul_(group.rank() + 1);
    Tensor seen;
    BackgroundCollectives collectives(group, torch::kCPU);
    collectives.BeginSumOfParts(values, [&] { seen = values.chunk(3)[group.rank()].clone(); });
    collectives.Join();
    const Tensor sums = torch::arange(6, torch::kFloat32).mul_(6);
    EXPECT_TRUE(seen.equal(sums.chunk(3)[group.rank()]));
    collectives.BeginGatherOfParts(values);
    collectives.Join();
    EXPECT_TRUE(values.equal(sums));
  });
}

TEST(BackgroundCollectivesTest, AGroupOfOneOnlyDoesWhatFollows) {
  const auto alone = MakeSingleProcessCommunicator();
  BackgroundCollectives collectives(*alone, torch::kCPU);
  Tensor values = torch::ones({3});
  int calls = 0;
  collectives.BeginSum(values, [&] { ++calls; });
  collectives.BeginSumOfParts(values, [&] { ++calls; });
  collectives.BeginGatherOfParts(values);
  collectives.Join();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(values.equal(torch::ones({3})));
}

}  // namespace
}  // namespace trainyard::trainer
