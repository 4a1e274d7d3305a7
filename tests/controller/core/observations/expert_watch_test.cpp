#include "controller/core/observations/expert_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::controller {
namespace {

using Kind = ExpertProblem::Kind;

// Layers 1 and 2 with 8 experts, 2 per token. The worst balance is 4, so 2.5 is a collapse.
class ExpertWatchTest : public ::testing::Test {
 protected:
  ExpertWatchTest() {
    record_.set_first_layer(1);
    record_.set_experts(8);
    record_.set_topk(2);
    for (int layer = 0; layer < 2; ++layer) {
      record_.add_balance(1.25);
      record_.add_entropy(0.75);
      record_.add_dropped(0.0625);
    }
    record_.set_load(std::string(16, static_cast<char>(128)));
  }

  void Add(int records) {
    for (int i = 0; i < records; ++i) {
      record_.set_step(record_.step() + 10);
      watch_.Add(record_);
    }
  }

  v1::ExpertsRecord record_;
  ExpertWatch watch_;
};

TEST_F(ExpertWatchTest, AnEvenLoadIsNoProblem) {
  Add(20);
  EXPECT_TRUE(watch_.Problems().empty());
}

TEST_F(ExpertWatchTest, ALayerCollapsesHalfwayToTheWorstBalance) {
  record_.set_balance(1, 2.4375F);
  Add(20);
  EXPECT_TRUE(watch_.Problems().empty());
  record_.set_balance(0, 2.5F);
  record_.set_balance(1, 3.5F);
  Add(kExpertRecordsInARow - 1);
  EXPECT_TRUE(watch_.Problems().empty()) << "single steps vary";
  Add(1);
  const std::vector<ExpertProblem> problems = watch_.Problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].kind, Kind::kCollapsed);
  EXPECT_EQ(problems[0].layer, 2);
  EXPECT_EQ(problems[0].value, 3.5);
  EXPECT_EQ(problems[0].since_step, 210);
  EXPECT_EQ(problems[0].layers, 2);
  EXPECT_EQ(problems[0].experts, 8);
  EXPECT_EQ(problems[0].topk, 2);
  record_.set_balance(1, 1.5F);
  record_.set_balance(0, 1.5F);
  Add(1);
  EXPECT_TRUE(watch_.Problems().empty()) << "it has recovered";
}

TEST_F(ExpertWatchTest, ARouterThatIsCertainUsesOneExpert) {
  record_.set_entropy(0, 0.03125F);
  record_.set_entropy(1, 0.015625F);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].kind, Kind::kCertain);
  EXPECT_EQ(watch_.Problems()[0].layer, 2) << "the lowest entropy is the worst";
}

// With one expert per token, a router that is always certain is not a problem.
TEST_F(ExpertWatchTest, ACertainRouterWithOneExpertPerTokenIsNoProblem) {
  record_.set_topk(1);
  record_.set_entropy(0, 0);
  Add(20);
  EXPECT_TRUE(watch_.Problems().empty());
}

TEST_F(ExpertWatchTest, ManyDroppedChoicesAreAProblem) {
  record_.set_dropped(0, 0.125F);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].kind, Kind::kDropping);
  EXPECT_EQ(watch_.Problems()[0].value, 0.125);
}

TEST_F(ExpertWatchTest, ExpertsWithoutRowsAreAProblemAfterManyRecords) {
  (*record_.mutable_load())[8 + 3] = 0;
  Add(2);
  (*record_.mutable_load())[8 + 5] = 0;
  Add(kIdleRecordsInARow - 3);
  EXPECT_TRUE(watch_.Problems().empty());
  Add(3);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  const ExpertProblem problem = watch_.Problems()[0];
  EXPECT_EQ(problem.kind, Kind::kIdle);
  EXPECT_EQ(problem.layer, 2);
  EXPECT_EQ(problem.value, 2);
  EXPECT_EQ(problem.expert, 3);
  EXPECT_EQ(problem.since_step, 10);
}

TEST_F(ExpertWatchTest, AnAttemptThatHasGoneBackBeginsAnew) {
  record_.set_balance(0, 4);
  Add(kExpertRecordsInARow);
  EXPECT_EQ(watch_.Problems().size(), 1u);
  record_.set_step(20);
  Add(1);
  EXPECT_TRUE(watch_.Problems().empty());
}

// Without this rule, the number of watched layers grows without bound.
TEST_F(ExpertWatchTest, LayersThatAreNoLongerReportedHaveNoProblems) {
  record_.set_balance(0, 4);
  record_.set_balance(1, 4);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].layers, 2);
  record_.set_first_layer(3);
  Add(1);
  EXPECT_TRUE(watch_.Problems().empty()) << "layers 1 and 2 are no longer reported";
  Add(kExpertRecordsInARow - 1);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].layers, 2);
  for (auto* figures :
       {record_.mutable_balance(), record_.mutable_entropy(), record_.mutable_dropped()}) {
    figures->RemoveLast();
  }
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].layers, 1) << "layer 4 is no longer reported";
}

TEST_F(ExpertWatchTest, AProblemAtTheOldestRecordMayBeOlder) {
  record_.set_step(490);
  record_.set_balance(0, 4);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 1u);
  EXPECT_EQ(watch_.Problems()[0].since_step, 500);
  EXPECT_TRUE(watch_.Problems()[0].maybe_earlier);
  record_.set_dropped(1, 0.5F);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Problems().size(), 2u);
  EXPECT_EQ(watch_.Problems()[1].kind, Kind::kDropping);
  EXPECT_EQ(watch_.Problems()[1].since_step, 550);
  EXPECT_FALSE(watch_.Problems()[1].maybe_earlier) << "earlier records show no problem";
}

// The first step has no predecessor. Some programs count steps from 0.
TEST_F(ExpertWatchTest, AProblemAtTheFirstStepOfTheRunIsNotOlder) {
  for (const int64_t first_step : {0, 1}) {
    record_.set_step(first_step - 10);
    record_.set_balance(0, 4);
    Add(kExpertRecordsInARow);
    ASSERT_EQ(watch_.Problems().size(), 1u) << first_step;
    EXPECT_EQ(watch_.Problems()[0].since_step, first_step);
    EXPECT_FALSE(watch_.Problems()[0].maybe_earlier) << first_step;
  }
}

TEST_F(ExpertWatchTest, FiguresThatAreNotReportedAreNoProblem) {
  v1::ExpertsRecord bare;
  bare.set_experts(8);
  bare.set_topk(2);
  bare.add_balance(1);
  for (int step = 1; step <= 20; ++step) {
    bare.set_step(step);
    watch_.Add(bare);
  }
  EXPECT_TRUE(watch_.Problems().empty());
}

}  // namespace
}  // namespace trainyard::controller
