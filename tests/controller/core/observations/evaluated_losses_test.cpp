#include "controller/core/observations/evaluated_losses.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(EvaluatedLossesTest, TheNewestLossOfEachSetIsKeptSortedByName) {
  v1::Progress progress;
  SetEvaluatedLoss("val", 10, 2.5, progress);
  SetEvaluatedLoss("code", 10, 1.5, progress);
  SetEvaluatedLoss("code", 20, 1.25, progress);
  ASSERT_EQ(progress.evaluations_size(), 2);
  EXPECT_EQ(progress.evaluations(0).data_set(), "code");
  EXPECT_EQ(progress.evaluations(0).step(), 20);
  EXPECT_EQ(progress.evaluations(0).loss(), 1.25);
  EXPECT_EQ(progress.evaluations(1).data_set(), "val");
  EXPECT_EQ(progress.validation_loss(), 2.5);
}

TEST(EvaluatedLossesTest, SetsAreBounded) {
  v1::Progress progress;
  for (int i = 0; i < 100; ++i) SetEvaluatedLoss("set" + std::to_string(i), 1, 1, progress);
  EXPECT_EQ(progress.evaluations_size(), kShownEvaluationSets);
  SetEvaluatedLoss("set0", 2, 0.5, progress);
  EXPECT_EQ(progress.evaluations(0).loss(), 0.5);
}

TEST(EvaluatedLossesTest, NamesOfSetsAreBounded) {
  v1::Progress progress;
  SetEvaluatedLoss(std::string(kMaxSetNameBytes + 1, 'a'), 1, 1, progress);
  SetEvaluatedLoss("", 1, 1, progress);
  EXPECT_TRUE(progress.evaluations().empty());
  SetEvaluatedLoss(std::string(kMaxSetNameBytes, 'a'), 1, 1, progress);
  EXPECT_EQ(progress.evaluations_size(), 1);
}

TEST(EvaluatedLossesTest, MetricsContainLossesOfNamedSetsOnly) {
  v1::MetricsRecord metrics;
  metrics.set_step(30);
  for (const char* name : {"loss", "val_loss", "snli_loss", "load_balancing_loss"}) {
    (*metrics.mutable_values())[name] = 2;
  }
  metrics.add_evaluation_sets("snli");
  metrics.add_evaluation_sets("absent");
  v1::Progress progress;
  ObserveEvaluatedLosses(metrics, progress);
  ASSERT_EQ(progress.evaluations_size(), 2);
  EXPECT_EQ(progress.evaluations(0).data_set(), "snli");
  EXPECT_EQ(progress.evaluations(0).step(), 30);
  EXPECT_EQ(progress.evaluations(1).data_set(), "val");
}

}  // namespace
}  // namespace trainyard::controller
