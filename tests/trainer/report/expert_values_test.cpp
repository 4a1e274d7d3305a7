#include "trainer/report/expert_values.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "proto/contract/expert_load.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::trainer {
namespace {

ModelConfig Model() {
  ModelConfig model;
  model.num_experts = 4;
  model.moe_router_topk = 2;
  model.moe_aux_loss_coeff = 0.01;
  model.moe_router_load_balancing_type = RouterLoadBalancing::kAuxLoss;
  return model;
}

std::vector<LayerBalance> Layers() {
  return {{.layer = 2, .load = {4, 4, 4, 4}, .entropy = 0.9, .aux_loss = 1},
          {.layer = 3, .load = {0, 2, 6, 8}, .dropped = 8, .entropy = 0.5, .aux_loss = 1.5}};
}

TEST(ExpertValuesTest, ValuesAreThoseOfTheWorstLayerAndOfAll) {
  const MetricValues values = ExpertValues(Model(), Layers());
  const std::map<std::string, double> found(values.begin(), values.end());
  EXPECT_EQ(found, (std::map<std::string, double>{{telemetry::kMoeBalanceMax, 2},
                                                  {telemetry::kMoeBalanceMean, 1.5},
                                                  {telemetry::kMoeAuxLoss, 1.25},
                                                  {telemetry::kMoeRouterEntropyMin, 0.5},
                                                  {telemetry::kMoeDroppedShare, 0.25}}));
  EXPECT_TRUE(ExpertValues(Model(), {}).empty());
}

TEST(ExpertValuesTest, WithoutABalanceLossItIsNotReported) {
  ModelConfig model = Model();
  model.moe_aux_loss_coeff = 0;
  for (const auto& [key, value] : ExpertValues(model, Layers())) {
    EXPECT_NE(key, telemetry::kMoeAuxLoss);
  }
  EXPECT_TRUE(ExpertsReportOf(5, model, Layers()).aux_loss.empty());
}

TEST(ExpertValuesTest, ARecordHasEachLayer) {
  const ExpertsReport report = ExpertsReportOf(5, Model(), Layers());
  EXPECT_EQ(report.first_layer, 2);
  EXPECT_EQ(report.experts, 4);
  EXPECT_EQ(report.topk, 2);
  EXPECT_EQ(report.balance, (std::vector<double>{1, 2}));
  EXPECT_EQ(report.dropped, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(report.aux_loss, (std::vector<double>{1, 1.5}));
  ASSERT_EQ(report.load.size(), 8u);
  EXPECT_EQ(ExpertLoadOf(report.load[0]), 1);
  EXPECT_EQ(report.load[4], 0);
  EXPECT_NEAR(ExpertLoadOf(report.load[6]), 1.5, 0.035);
  EXPECT_EQ(ExpertLoadOf(report.load[7]), 2);
}

// A line of telemetry has at most 64 KiB.
TEST(ExpertValuesTest, TooManyLoadsAreLeftOut) {
  ModelConfig model = Model();
  model.num_experts = static_cast<int64_t>(kMaxExpertLoads) + 1;
  const LayerBalance layer{.layer = 0, .load = std::vector<int64_t>(kMaxExpertLoads + 1, 2)};
  const ExpertsReport report = ExpertsReportOf(5, model, {layer});
  EXPECT_TRUE(report.load.empty());
  EXPECT_EQ(report.balance, std::vector<double>{1});
}

TEST(ExpertValuesTest, LargeModelsWriteRarely) {
  EXPECT_EQ(PauseBetweenExpertRecords(64).count(), 5);
  EXPECT_EQ(PauseBetweenExpertRecords(58 * 256).count(), 58);
}

}  // namespace
}  // namespace trainyard::trainer
