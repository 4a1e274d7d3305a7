#include "controller/api/records/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// Adds records of a layer at consecutive steps. The layer is collapsed from step `collapsed_at` on.
void AddRecords(int64_t attempt, int64_t first_step, int count, int64_t collapsed_at,
                std::vector<StoredExperts>& records) {
  for (int64_t step = first_step; step < first_step + count; ++step) {
    StoredExperts& experts = records.emplace_back();
    experts.attempt = attempt;
    experts.record.set_step(step);
    experts.record.set_experts(2);
    experts.record.set_topk(1);
    experts.record.add_balance(step >= collapsed_at ? 2 : 1);
  }
}

TEST(ExpertProblemsTest, ALongLastingProblemHasItsFirstStep) {
  std::vector<StoredExperts> records;
  AddRecords(1, 1, 128, 11, records);
  const std::vector<ExpertProblem> problems = ExpertProblemsOf(records);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, ExpertProblem::Kind::kCollapsed);
  EXPECT_EQ(problems[0].since_step, 11);
  EXPECT_FALSE(problems[0].maybe_earlier);
}

TEST(ExpertProblemsTest, OnlyTheNewestAttemptCounts) {
  std::vector<StoredExperts> records;
  AddRecords(1, 1, 30, 11, records);
  AddRecords(2, 31, kExpertRecordsInARow - 1, 31, records);
  EXPECT_TRUE(ExpertProblemsOf(records).empty()) << "too few records of attempt 2";
  AddRecords(2, 30 + kExpertRecordsInARow, 1, 31, records);
  const std::vector<ExpertProblem> problems = ExpertProblemsOf(records);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].since_step, 31);
  EXPECT_TRUE(problems[0].maybe_earlier);
}

TEST(ExpertProblemsTest, AJobWithoutRecordsHasNone) { EXPECT_TRUE(ExpertProblemsOf({}).empty()); }

}  // namespace
}  // namespace trainyard::controller
