#include "proto/model/expert_capacity.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

int64_t CapacityOf(double factor, int64_t topk, int64_t experts, int64_t tokens) {
  ModelConfig model;
  model.num_experts = experts;
  model.moe_router_topk = topk;
  model.moe_expert_capacity_factor = factor;
  return ExpertCapacity(model, tokens);
}

TEST(ExpertCapacityTest, IsTheFactorTimesTheMeanRoundedUp) {
  EXPECT_EQ(CapacityOf(1, 2, 8, 4096), 1024);
  EXPECT_EQ(CapacityOf(1.25, 2, 8, 4096), 1280);
  EXPECT_EQ(CapacityOf(1, 2, 8, 4097), 1025);
  EXPECT_EQ(CapacityOf(0.5, 1, 3, 7), 2);
}

TEST(ExpertCapacityTest, RoundingErrorsAddNoRow) {
  EXPECT_EQ(CapacityOf(1.1, 1, 1, 10), 10) << "limited to the tokens";
  EXPECT_EQ(CapacityOf(1.1, 1, 2, 20), 11);
  EXPECT_EQ(CapacityOf(1.4, 1, 3, 15), 7);
}

TEST(ExpertCapacityTest, IsFromOneToAllTokens) {
  EXPECT_EQ(CapacityOf(0.001, 1, 64, 128), 1);
  EXPECT_EQ(CapacityOf(100, 2, 8, 128), 128);
}

TEST(ExpertCapacityTest, IsOff) { EXPECT_FALSE(HasExpertCapacity(ModelConfig())); }

}  // namespace
}  // namespace trainyard
