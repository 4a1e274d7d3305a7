#include "proto/rules/benchmark_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(BenchmarkSettingsTest, OnlyForcedBalanceIsNoted) {
  RunConfig config;
  config.model.num_experts = 8;
  EXPECT_EQ(BenchmarkSettingNote(config), "");
  config.model.moe_router_force_load_balancing = true;
  EXPECT_THAT(BenchmarkSettingNote(config),
              ::testing::HasSubstr("`model.moe_router_force_load_balancing` is for benchmarks"));
}

}  // namespace
}  // namespace trainyard
