#include "controller/api/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

StoredExperts TwoLayers() {
  StoredExperts experts{.attempt = 2, .time_ms = 500};
  v1::ExpertsRecord& record = experts.record;
  record.set_step(40);
  record.set_first_layer(3);
  record.set_experts(2);
  record.set_topk(1);
  record.set_load(std::string("\x80\x80\x00\x90", 4));
  record.add_balance(1.0F);
  record.add_balance(2.00001F);
  record.add_entropy(0.1F);
  record.add_entropy(0.75F);
  return experts;
}

TEST(ExpertBalanceTest, LoadsAreNumbersOfEachLayer) {
  const v1::ExpertBalance balance = ExpertBalanceOf(TwoLayers());
  EXPECT_EQ(balance.step(), 40);
  EXPECT_EQ(balance.attempt(), 2);
  EXPECT_EQ(balance.time_ms(), 500);
  EXPECT_EQ(balance.worst_layer(), 4);
  ASSERT_EQ(balance.layers_size(), 2);
  EXPECT_EQ(balance.layers(0).layer(), 3);
  EXPECT_THAT(balance.layers(0).load(), ElementsAre(1, 1));
  EXPECT_THAT(balance.layers(1).load(), ElementsAre(0, 2));
  EXPECT_EQ(balance.layers(0).entropy(), 0.1);
  EXPECT_EQ(balance.layers(1).balance(), 2);
  EXPECT_FALSE(balance.layers(0).has_aux_loss());
  EXPECT_FALSE(balance.layers(0).has_dropped());
}

TEST(ExpertBalanceTest, ARecordMayHaveNoLoads) {
  StoredExperts experts = TwoLayers();
  experts.record.clear_load();
  const v1::ExpertBalance balance = ExpertBalanceOf(experts);
  EXPECT_EQ(balance.layers(1).load_size(), 0);
  EXPECT_EQ(balance.layers(1).balance(), 2);
}

}  // namespace
}  // namespace trainyard::controller
