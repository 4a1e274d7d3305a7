#include "controller/core/observations/expert_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::controller {
namespace {

using Kind = ExpertTrouble::Kind;

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

TEST_F(ExpertWatchTest, AnEvenLoadIsNoTrouble) {
  Add(20);
  EXPECT_TRUE(watch_.Troubles().empty());
}

TEST_F(ExpertWatchTest, ALayerCollapsesHalfwayToTheWorstBalance) {
  record_.set_balance(1, 2.4375F);
  Add(20);
  EXPECT_TRUE(watch_.Troubles().empty());
  record_.set_balance(0, 2.5F);
  record_.set_balance(1, 3.5F);
  Add(kExpertRecordsInARow - 1);
  EXPECT_TRUE(watch_.Troubles().empty()) << "single steps vary";
  Add(1);
  const std::vector<ExpertTrouble> troubles = watch_.Troubles();
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0].kind, Kind::kCollapsed);
  EXPECT_EQ(troubles[0].layer, 2);
  EXPECT_EQ(troubles[0].value, 3.5);
  EXPECT_EQ(troubles[0].since_step, 210);
  EXPECT_EQ(troubles[0].layers, 2);
  EXPECT_EQ(troubles[0].experts, 8);
  EXPECT_EQ(troubles[0].topk, 2);
  record_.set_balance(1, 1.5F);
  record_.set_balance(0, 1.5F);
  Add(1);
  EXPECT_TRUE(watch_.Troubles().empty()) << "it has recovered";
}

TEST_F(ExpertWatchTest, ARouterThatIsCertainUsesOneExpert) {
  record_.set_entropy(0, 0.03125F);
  record_.set_entropy(1, 0.015625F);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Troubles().size(), 1u);
  EXPECT_EQ(watch_.Troubles()[0].kind, Kind::kCertain);
  EXPECT_EQ(watch_.Troubles()[0].layer, 2) << "the lowest entropy is the worst";
}

// With one expert per token, a certain router is as intended.
TEST_F(ExpertWatchTest, ACertainRouterWithOneExpertPerTokenIsNoTrouble) {
  record_.set_topk(1);
  record_.set_entropy(0, 0);
  Add(20);
  EXPECT_TRUE(watch_.Troubles().empty());
}

TEST_F(ExpertWatchTest, ManyDroppedChoicesAreTrouble) {
  record_.set_dropped(0, 0.125F);
  Add(kExpertRecordsInARow);
  ASSERT_EQ(watch_.Troubles().size(), 1u);
  EXPECT_EQ(watch_.Troubles()[0].kind, Kind::kDropping);
  EXPECT_EQ(watch_.Troubles()[0].value, 0.125);
}

TEST_F(ExpertWatchTest, ExpertsWithoutRowsAreTroubleAfterManyRecords) {
  (*record_.mutable_load())[8 + 3] = 0;
  Add(2);
  (*record_.mutable_load())[8 + 5] = 0;
  Add(kIdleRecordsInARow - 3);
  EXPECT_TRUE(watch_.Troubles().empty());
  Add(3);
  ASSERT_EQ(watch_.Troubles().size(), 1u);
  const ExpertTrouble trouble = watch_.Troubles()[0];
  EXPECT_EQ(trouble.kind, Kind::kIdle);
  EXPECT_EQ(trouble.layer, 2);
  EXPECT_EQ(trouble.value, 2);
  EXPECT_EQ(trouble.expert, 3);
  EXPECT_EQ(trouble.since_step, 10);
}

TEST_F(ExpertWatchTest, AnAttemptThatHasGoneBackBeginsAnew) {
  record_.set_balance(0, 4);
  Add(kExpertRecordsInARow);
  EXPECT_EQ(watch_.Troubles().size(), 1u);
  record_.set_step(20);
  Add(1);
  EXPECT_TRUE(watch_.Troubles().empty());
}

TEST_F(ExpertWatchTest, FiguresThatAreNotReportedAreNoTrouble) {
  v1::ExpertsRecord bare;
  bare.set_experts(8);
  bare.set_topk(2);
  bare.add_balance(1);
  for (int step = 1; step <= 20; ++step) {
    bare.set_step(step);
    watch_.Add(bare);
  }
  EXPECT_TRUE(watch_.Troubles().empty());
}

}  // namespace
}  // namespace trainyard::controller
