#include "proto/rules/expert_dispatch.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

ModelConfig Mixture(int64_t experts, int64_t topk) {
  ModelConfig model;
  model.num_experts = experts;
  model.moe_router_topk = topk;
  return model;
}

LayoutConfig Layout(int64_t ep, int64_t dp, int64_t tp = 1, int64_t etp = 1) {
  LayoutConfig layout;
  layout.tp = tp;
  layout.dp = dp;
  layout.ep = ep;
  layout.etp = etp;
  return layout;
}

// Which of the two dispatches is faster on two and on four GPUs, as measured (trainer/README.md).
TEST(ExpertDispatchTest, TheOneThatSendsFewerBytes) {
  EXPECT_EQ(DispatchOf(Mixture(8, 2), Layout(1, 4)), ExpertDispatch::kLocal);
  EXPECT_EQ(DispatchOf(Mixture(8, 2), Layout(2, 4)), ExpertDispatch::kAllToAll);
  EXPECT_EQ(DispatchOf(Mixture(64, 6), Layout(2, 4)), ExpertDispatch::kAllGather);
  EXPECT_EQ(DispatchOf(Mixture(8, 2), Layout(4, 4)), ExpertDispatch::kAllToAll);
  EXPECT_EQ(DispatchOf(Mixture(64, 6), Layout(4, 4)), ExpertDispatch::kAllGather);
  EXPECT_EQ(DispatchOf(Mixture(256, 8), Layout(64, 64)), ExpertDispatch::kAllToAll);
}

TEST(ExpertDispatchTest, TheSettingDecides) {
  LayoutConfig layout = Layout(4, 4);
  layout.moe_token_dispatcher_type = TokenDispatcher::kAllgather;
  EXPECT_EQ(DispatchOf(Mixture(8, 2), layout), ExpertDispatch::kAllGather);
  layout.moe_token_dispatcher_type = TokenDispatcher::kAlltoall;
  EXPECT_EQ(DispatchOf(Mixture(64, 6), layout), ExpertDispatch::kAllToAll);
  layout.ep = 1;
  EXPECT_EQ(DispatchOf(Mixture(64, 6), layout), ExpertDispatch::kLocal);
}

TEST(ExpertDispatchTest, RowsGoToEachPartOfAnExpert) {
  EXPECT_EQ(DispatchOf(Mixture(8, 1), Layout(1, 1, 2, 2)), ExpertDispatch::kAllToAll);
  EXPECT_EQ(DispatchOf(Mixture(8, 2), Layout(1, 1, 2, 2)), ExpertDispatch::kAllGather);
  EXPECT_EQ(MeanExpertRows(Mixture(8, 2), Layout(4, 4), 100), 200);
  EXPECT_EQ(MeanExpertRows(Mixture(8, 2), Layout(4, 4, 2, 2), 100), 400);
}

TEST(ExpertDispatchTest, MemoryIsReservedForAnUnbalancedRouter) {
  const auto reserved = [](const ModelConfig& model, const LayoutConfig& layout) {
    RunConfig config;
    config.model = model;
    config.layout = layout;
    return ReservedExpertRows(config, 100);
  };
  EXPECT_EQ(reserved(Mixture(8, 2), Layout(1, 8)), 200) << "one rank has all rows";
  EXPECT_EQ(reserved(Mixture(8, 2), Layout(4, 8)), 250);
  EXPECT_EQ(reserved(Mixture(2, 2), Layout(2, 8)), 200) << "all rows of both ranks";
  ModelConfig balanced = Mixture(8, 2);
  balanced.moe_router_force_load_balancing = true;
  EXPECT_EQ(reserved(balanced, Layout(4, 8)), 200) << "each rank has the mean";
}

}  // namespace
}  // namespace trainyard
