#include "controller/api/jobs/stored_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "controller/store/metrics/memory_metric_store.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class StoredLossesTest : public testing::Test {
 protected:
  StoredLossesTest() {
    job_.set_id(1);
    job_.mutable_spec()->mutable_guard()->set_window(3);
    job_.mutable_spec()->mutable_train()->set_log_every_steps(1);
  }

  // Stores one loss for every `apart`-th step from `first` to `last`. The loss is the step number.
  void Store(int64_t attempt, int64_t first, int64_t last, int64_t apart = 1) {
    const StreamKey stream{1, attempt, 0, v1::STREAM_KIND_TELEMETRY};
    std::vector<MetricPoint> points;
    for (int64_t step = first; step <= last; step += apart) {
      points.push_back({"loss", step, step, static_cast<double>(step)});
    }
    ASSERT_TRUE(metrics_.Append({{stream, 0, 100, points}}).ok());
  }

  StoredLosses Stored() {
    const auto stored = ReadStoredLosses(job_, metrics_);
    EXPECT_TRUE(stored.ok()) << stored.status();
    return *stored;
  }

  v1::Job job_;
  MemoryMetricStore metrics_;
};

TEST_F(StoredLossesTest, AreAsManyAsTheWindowHolds) {
  EXPECT_THAT(Stored().losses, IsEmpty());
  Store(1, 1, 20);
  EXPECT_THAT(Stored().losses, ElementsAre(Pair(18, 18), Pair(19, 19), Pair(20, 20)));
  EXPECT_EQ(Stored().attempt, 1);
}

TEST_F(StoredLossesTest, MayLieSeveralStepsApart) {
  job_.mutable_spec()->mutable_train()->set_log_every_steps(10);
  Store(1, 10, 100, 10);
  EXPECT_THAT(Stored().losses, ElementsAre(Pair(80, 80), Pair(90, 90), Pair(100, 100)));
}

// The newest attempt resumed from a checkpoint, so later steps of earlier attempts do not count.
TEST_F(StoredLossesTest, AreThoseOfTheBranchThatTheNewestAttemptIsOn) {
  Store(1, 1, 30);
  Store(2, 21, 22);
  EXPECT_THAT(Stored().losses, ElementsAre(Pair(20, 20), Pair(21, 21), Pair(22, 22)));
  EXPECT_EQ(Stored().attempt, 2);
}

// The best loss is the minimum over all steps, including steps before the newest step.
TEST_F(StoredLossesTest, TheStoredProgressHasTheBestLoss) {
  Store(1, 3, 20);
  const auto progress = StoredProgress(job_, metrics_);
  ASSERT_TRUE(progress.ok() && progress->has_value()) << progress.status();
  EXPECT_EQ((*progress)->best_loss(), 3);
  EXPECT_EQ((*progress)->loss(), 20);
}

TEST(StoredProgressTest, HasTheNewestLossOfEachSetThatTheJobNames) {
  MemoryMetricStore metrics;
  v1::Job job;
  job.set_id(1);
  *job.mutable_spec()->mutable_evaluation()->add_sets() = "code /data/code";
  const StreamKey stream{1, 1, 0, v1::STREAM_KIND_TELEMETRY};
  ASSERT_TRUE(metrics
                  .Append({{stream,
                            0,
                            100,
                            {{"loss", 20, 20, 2},
                             {"code_loss", 10, 10, 9},
                             {"code_loss", 20, 21, 8},
                             {"other_loss", 20, 21, 7}}}})
                  .ok());
  const auto progress = StoredProgress(job, metrics);
  ASSERT_TRUE(progress.ok() && progress->has_value());
  EXPECT_EQ((*progress)->step(), 20);
  EXPECT_EQ((*progress)->loss(), 2);
  ASSERT_EQ((*progress)->evaluations_size(), 1);
  EXPECT_EQ((*progress)->evaluations(0).data_set(), "code");
  EXPECT_EQ((*progress)->evaluations(0).loss(), 8);
}

TEST(StoredRatesTest, AreThoseOfTheWholeRunWithTheFactorsOfItsAttempts) {
  MemoryMetricStore metrics;
  v1::Job job;
  job.set_id(1);
  for (const auto& [number, factor] : {std::pair{1, 0.0}, std::pair{2, 0.5}}) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(number);
    attempt.set_lr_factor(factor);
  }
  EXPECT_TRUE(ReadStoredRates(job, metrics)->rates.empty());
  const auto store = [&](int64_t attempt, int64_t first, int64_t last, double rate) {
    std::vector<MetricPoint> points;
    for (int64_t step = first; step <= last; ++step) {
      points.push_back({"loss", step, step, 2});
      points.push_back({"lr", step, step, step == 5 ? std::nan("") : rate});
    }
    const StreamKey stream{1, attempt, 0, v1::STREAM_KIND_TELEMETRY};
    ASSERT_TRUE(metrics.Append({{stream, 0, 100, points}}).ok());
  };
  store(1, 1, 30, 2e-4);
  store(2, 21, 22, 1e-4);
  const auto stored = ReadStoredRates(job, metrics);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->attempt, 2);
  EXPECT_EQ(stored->rates.points().size(), 21U) << "22 steps, and one rate is not finite";
  EXPECT_EQ(stored->rates.At(20)->expected, 2e-4);
  EXPECT_EQ(stored->rates.At(20)->factor, 1);
  EXPECT_EQ(stored->rates.At(21)->expected, 1e-4);
  EXPECT_EQ(stored->rates.At(21)->factor, 0.5);
}

}  // namespace
}  // namespace trainyard::controller
