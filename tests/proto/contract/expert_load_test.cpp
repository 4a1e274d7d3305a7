#include "proto/contract/expert_load.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

TEST(ExpertLoadTest, CodesAreWithinAFewPercent) {
  for (double relative = 0.005; relative < 240; relative *= 1.03) {
    EXPECT_NEAR(ExpertLoadOf(ExpertLoadCode(relative)) / relative, 1, 0.028) << relative;
  }
}

TEST(ExpertLoadTest, OnlyNoRowsAreZero) {
  EXPECT_EQ(ExpertLoadCode(0), 0);
  EXPECT_EQ(ExpertLoadCode(std::nan("")), 0);
  EXPECT_EQ(ExpertLoadCode(1e-9), 1);
  EXPECT_EQ(ExpertLoadCode(1e9), 255);
  EXPECT_EQ(ExpertLoadOf(0), 0);
  EXPECT_EQ(ExpertLoadOf(ExpertLoadCode(1)), 1);
  EXPECT_GT(ExpertLoadOf(1), 0);
}

TEST(ExpertShapeTest, EachSizeHasLimits) {
  const ExpertShape usual{.first_layer = 3, .layers = 58, .experts = 256, .topk = 8};
  EXPECT_TRUE(IsAllowed(usual));
  const auto allows = [&](std::int64_t ExpertShape::*size, std::int64_t value) {
    ExpertShape shape = usual;
    shape.*size = value;
    return IsAllowed(shape);
  };
  EXPECT_TRUE(allows(&ExpertShape::first_layer, 0));
  EXPECT_FALSE(allows(&ExpertShape::first_layer, -1));
  EXPECT_FALSE(allows(&ExpertShape::first_layer, kMaxLayers + 1));
  EXPECT_FALSE(allows(&ExpertShape::layers, 0));
  EXPECT_FALSE(allows(&ExpertShape::layers, kMaxLayers + 1));
  EXPECT_FALSE(allows(&ExpertShape::experts, 7)) << "fewer than topk";
  EXPECT_FALSE(allows(&ExpertShape::experts, kMaxExpertsOfLayer + 1));
  EXPECT_FALSE(allows(&ExpertShape::topk, 0));
  EXPECT_TRUE(allows(&ExpertShape::topk, 256));
}

TEST(ExpertShapeTest, EachExpertOfEachLayerHasALoad) {
  EXPECT_TRUE(HasAllLoads({.layers = 2, .experts = 8}, 16));
  EXPECT_FALSE(HasAllLoads({.layers = 2, .experts = 8}, 8));
  EXPECT_TRUE(HasAllLoads({.layers = 1, .experts = kMaxExpertLoads}, kMaxExpertLoads));
  EXPECT_FALSE(HasAllLoads({.layers = 1, .experts = kMaxExpertLoads + 1}, kMaxExpertLoads + 1));
}

TEST(ExpertShapeTest, TheWorstBalanceIsThatOfTokensWithTheSameExperts) {
  EXPECT_EQ(WorstBalance(256, 8), 32);
  EXPECT_EQ(WorstBalance(4, 0), 4) << "a response without topk";
}

}  // namespace
}  // namespace trainyard
