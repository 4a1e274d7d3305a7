// Tests the contract of metric_store.h on every implementation.
#include "controller/store/metrics/metric_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/controller/store/contract/store_contract.h"
#include "tests/controller/store/metrics/not_finite.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MetricStoreTest : public StoreContract<MetricStore> {
 protected:
  static StreamKey Stream(int64_t attempt_number) {
    return {1, attempt_number, 0, v1::STREAM_KIND_TELEMETRY};
  }

  // Appends the points at the end of the attempt's stream.
  void Add(int64_t attempt_number, std::vector<MetricPoint> points) {
    const int64_t begin = *store_->StoredOffset(Stream(attempt_number));
    const absl::Status status =
        store_->Append({{Stream(attempt_number), begin, begin + 100, points}});
    ASSERT_TRUE(status.ok()) << status;
  }

  // Appends the steps first..last. The value of each step is step + 1000 * attempt.
  void AddSteps(int64_t attempt_number, int64_t first, int64_t last,
                const std::string& key = "loss") {
    std::vector<MetricPoint> points;
    for (int64_t step = first; step <= last; ++step) {
      points.push_back({key, step, step * 10, static_cast<double>(step + 1000 * attempt_number)});
    }
    Add(attempt_number, std::move(points));
  }

  v1::Series Read(SeriesQuery query) {
    query.job_id = 1;
    if (query.keys.empty()) query.keys = {"loss"};
    auto series = store_->Read(query);
    EXPECT_TRUE(series.ok()) << series.status();
    return series.ok() && !series->empty() ? series->front() : v1::Series();
  }
};

TEST_P(MetricStoreTest, GivesBackEveryPointAfterReopening) {
  Add(1, {{"loss", 1, 100, 3.5}, {"lr", 1, 100, 1e-4}, {"loss", 2, 200, 3.25}});
  Reopen();
  const v1::Series series = Read({});
  EXPECT_EQ(series.key(), "loss");
  EXPECT_THAT(series.steps(), ElementsAre(1, 2));
  EXPECT_THAT(series.times_ms(), ElementsAre(100, 200));
  EXPECT_THAT(series.last(), ElementsAre(3.5, 3.25));
  EXPECT_THAT(series.min(), ElementsAre(3.5, 3.25));
  EXPECT_THAT(series.max(), ElementsAre(3.5, 3.25));
  EXPECT_THAT(series.counts(), ElementsAre(1, 1));
  EXPECT_THAT(series.attempts(), ElementsAre(1, 1));
  EXPECT_THAT(*store_->Keys(1), ElementsAre("loss", "lr"));
  EXPECT_TRUE(store_->Keys(2)->empty());
}

TEST_P(MetricStoreTest, UnknownKeyAndJobHaveNoPoints) {
  AddSteps(1, 1, 3);
  auto series = store_->Read({.job_id = 1, .keys = {"missing", "loss"}, .buckets = 10});
  ASSERT_TRUE(series.ok()) << series.status();
  ASSERT_EQ(series->size(), 2u);
  EXPECT_EQ((*series)[0].key(), "missing");
  EXPECT_EQ((*series)[0].steps_size(), 0);
  EXPECT_EQ((*series)[1].steps_size(), 3);
  EXPECT_EQ(store_->Read({.job_id = 9, .keys = {"loss"}})->front().steps_size(), 0);
}

TEST_P(MetricStoreTest, StoresEachByteRangeOnce) {
  const MetricBatch first{Stream(1), 0, 50, {{"loss", 1, 10, 1.0}}};
  const MetricBatch second{Stream(1), 50, 80, {{"loss", 2, 20, 2.0}}};
  EXPECT_EQ(*store_->StoredOffset(Stream(1)), 0);
  ASSERT_TRUE(store_->Append({first}).ok());
  ASSERT_TRUE(store_->Append({first, second}).ok());
  MetricBatch changed = second;
  changed.points[0].value = 99;
  ASSERT_TRUE(store_->Append({changed}).ok()) << "its bytes are stored: skipped";
  EXPECT_EQ(*store_->StoredOffset(Stream(1)), 80);
  EXPECT_THAT(Read({}).last(), ElementsAre(1.0, 2.0));
  EXPECT_EQ(*store_->StoredOffset({1, 1, 1, v1::STREAM_KIND_TELEMETRY}), 0) << "another rank";
  EXPECT_EQ(*store_->StoredOffset({1, 1, 0, v1::STREAM_KIND_PARSED_LOG}), 0) << "another kind";
}

TEST_P(MetricStoreTest, HoleIsRefusedAndNothingOfTheAppendStays) {
  const MetricBatch good{Stream(1), 0, 50, {{"loss", 1, 10, 1.0}}};
  const MetricBatch hole{Stream(2), 10, 20, {{"loss", 2, 20, 2.0}}};
  const absl::Status status = store_->Append({good, hole});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("job 1, attempt 2, rank 0"), HasSubstr("byte 10")));
  EXPECT_EQ(*store_->StoredOffset(Stream(1)), 0);
  EXPECT_EQ(Read({}).steps_size(), 0);
  EXPECT_TRUE(store_->Keys(1)->empty());
  EXPECT_EQ(store_->Append({{Stream(1), 0, -1, {}}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(MetricStoreTest, BatchThatIsStoredInPartIsNotDoubled) {
  ASSERT_TRUE(store_->Append({{Stream(1), 0, 50, {{"loss", 1, 10, 1.0}}}}).ok());
  ASSERT_TRUE(
      store_->Append({{Stream(1), 0, 80, {{"loss", 1, 10, 1.0}, {"loss", 2, 20, 2.0}}}}).ok());
  EXPECT_EQ(*store_->StoredOffset(Stream(1)), 80);
  EXPECT_THAT(Read({}).steps(), ElementsAre(1, 2));
  EXPECT_THAT(Read({.buckets = 1}).counts(), ElementsAre(2));
}

TEST_P(MetricStoreTest, PointSentAgainReplacesTheOneBefore) {
  AddSteps(1, 1, 3);
  Add(1, {{"loss", 2, 25, 7.5}});
  EXPECT_THAT(Read({}).last(), ElementsAre(1001, 7.5, 1003));
  EXPECT_THAT(Read({.buckets = 1}).counts(), ElementsAre(3));
}

TEST_P(MetricStoreTest, NanAndInfinitySurvive) {
  Add(1,
      {{"loss", 1, 1, 2.0}, {"loss", 2, 2, kNan}, {"loss", 3, 3, kInfinity}, {"loss", 4, 4, 1.0}});
  Add(1, {{"bad", 1, 1, kNan}, {"bad", 2, 2, kNan}});
  const v1::Series all = Read({});
  EXPECT_TRUE(std::isnan(all.last(1)));
  EXPECT_THAT(all.nan_counts(), ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(all.last(2), kInfinity);
  const v1::Series thin = Read({.buckets = 1});
  EXPECT_THAT(thin.min(), ElementsAre(1.0));
  EXPECT_THAT(thin.max(), ElementsAre(kInfinity));
  EXPECT_THAT(thin.last(), ElementsAre(1.0));
  EXPECT_THAT(thin.mean(), ElementsAre(1.5));
  EXPECT_THAT(thin.nan_counts(), ElementsAre(1));
  const v1::Series bad = Read({.keys = {"bad"}, .buckets = 1});
  ASSERT_EQ(bad.min_size(), 1);
  EXPECT_TRUE(std::isnan(bad.min(0)) && std::isnan(bad.max(0)) && std::isnan(bad.last(0)));
  EXPECT_TRUE(std::isnan(bad.mean(0)));
}

TEST_P(MetricStoreTest, StepRangeIncludesBothEnds) {
  AddSteps(1, 1, 10);
  EXPECT_THAT(Read({.from_step = 4, .to_step = 6}).steps(), ElementsAre(4, 5, 6));
  EXPECT_THAT(Read({.from_step = 9}).steps(), ElementsAre(9, 10));
  EXPECT_EQ(Read({.from_step = 11}).steps_size(), 0);
}

TEST_P(MetricStoreTest, ContradictoryQueryIsRefused) {
  EXPECT_EQ(store_->Read({.job_id = 1, .keys = {"loss"}, .buckets = -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Read({.job_id = 1, .from_step = 5, .to_step = 4}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(MetricStoreTest, BucketsAreEqualRangesOfSteps) {
  AddSteps(1, 1, 10);
  const v1::Series series = Read({.buckets = 3});  // Steps 1-4, 5-8, 9-10.
  EXPECT_THAT(series.steps(), ElementsAre(4, 8, 10));
  EXPECT_THAT(series.counts(), ElementsAre(4, 4, 2));
  EXPECT_THAT(series.min(), ElementsAre(1001, 1005, 1009));
  EXPECT_THAT(series.max(), ElementsAre(1004, 1008, 1010));
  EXPECT_THAT(series.mean(), ElementsAre(1002.5, 1006.5, 1009.5));
  EXPECT_THAT(series.times_ms(), ElementsAre(40, 80, 100));
}

TEST_P(MetricStoreTest, SmoothsEveryPointBeforeThinning) {
  AddSteps(1, 1, 3000);  // More than one chunk.
  const v1::Series raw = Read({.smooth = 0.9});
  double average = 0, weights = 0;
  for (int i = 0; i < raw.steps_size(); ++i) {
    average = 0.9 * average + 0.1 * raw.last(i);
    weights = 0.9 * weights + 0.1;
    ASSERT_NEAR(raw.smoothed(i), average / weights, 1e-9) << i;
  }
  EXPECT_DOUBLE_EQ(raw.smoothed(0), raw.last(0));
  const v1::Series thin = Read({.from_step = 1000, .to_step = 2000, .buckets = 7, .smooth = 0.9});
  EXPECT_EQ(thin.counts(0), 143);
  for (int i = 0; i < thin.steps_size(); ++i) {
    EXPECT_GE(thin.steps(i), 1000);
    EXPECT_NEAR(thin.smoothed(i), raw.smoothed(static_cast<int>(thin.steps(i)) - 1), 1e-9);
  }
  EXPECT_EQ(Read({}).smoothed_size(), 0);
}

TEST_P(MetricStoreTest, ANanDoesNotStayInTheAverage) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Add(1, {{"loss", 1, 0, 2}, {"loss", 2, 0, nan}, {"loss", 3, 0, 2}});
  EXPECT_THAT(Read({.smooth = 0.5}).smoothed(), ElementsAre(2, 2, 2));
}

TEST_P(MetricStoreTest, KnowsTheStepsOfEachAttempt) {
  AddSteps(1, 1, 1500);
  AddSteps(3, 7, 9, "val_loss");
  Reopen();
  const auto attempts = store_->Attempts(1);
  ASSERT_TRUE(attempts.ok() && attempts->size() == 2u) << attempts.status();
  EXPECT_EQ(attempts->front().steps.first, 1);
  EXPECT_EQ(attempts->front().steps.last, 1500);
  EXPECT_EQ(attempts->back().number, 3);
  EXPECT_EQ(attempts->back().steps.last, 9);
}

TEST_P(MetricStoreTest, NewerAttemptReplacesTheAbandonedBranch) {
  AddSteps(1, 1, 10);
  AddSteps(2, 6, 8);  // Resumed at step 5.
  const v1::Series merged = Read({});
  EXPECT_THAT(merged.steps(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(merged.attempts(), ElementsAre(1, 1, 1, 1, 1, 2, 2, 2));
  EXPECT_EQ(merged.last(5), 2006);
  EXPECT_THAT(Read({.attempt = 1}).steps(), testing::SizeIs(10));
  EXPECT_THAT(Read({.attempt = 2}).steps(), ElementsAre(6, 7, 8));
  EXPECT_EQ(Read({.attempt = 3}).steps_size(), 0);
  const v1::Series thin = Read({.buckets = 2});
  EXPECT_THAT(thin.counts(), ElementsAre(4, 4));
  EXPECT_THAT(thin.attempts(), ElementsAre(1, 2));
}

TEST_P(MetricStoreTest, AttemptThatResumedEarlierHidesTheOneBetween) {
  AddSteps(1, 1, 10);
  AddSteps(2, 8, 12);
  AddSteps(3, 4, 5);
  const v1::Series merged = Read({});
  EXPECT_THAT(merged.steps(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(merged.attempts(), ElementsAre(1, 1, 1, 3, 3));
}

TEST_P(MetricStoreTest, SparseSeriesEndsWhereTheNewerAttemptResumed) {
  AddSteps(1, 1, 10);
  Add(1, {{"val_loss", 4, 40, 4.0}, {"val_loss", 8, 80, 8.0}});
  AddSteps(2, 6, 7);
  EXPECT_THAT(Read({.keys = {"val_loss"}}).steps(), ElementsAre(4)) << "8 was abandoned";
}

TEST_P(MetricStoreTest, EvaluationOfTheResumedCheckpointHidesNoOtherPoint) {
  AddSteps(1, 1, 10);
  Add(2, {{"val_loss", 5, 50, 5.5}});
  AddSteps(2, 6, 7);
  EXPECT_THAT(Read({}).steps(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Read({.keys = {"val_loss"}}).steps(), ElementsAre(5));
}

TEST_P(MetricStoreTest, ExtremeStepsAreKept) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  Add(1, {{"loss", high, 1, 1.0}, {"loss", low, 2, 2.0}, {"loss", 0, 3, 3.0}});
  Add(2, {{"loss", low, 4, 4.0}});
  const v1::Series all = Read({.from_step = low, .attempt = 1});
  EXPECT_THAT(all.steps(), ElementsAre(low, 0, high));
  EXPECT_THAT(Read({.from_step = low, .buckets = 2, .attempt = 1}).counts(), ElementsAre(1, 2));
  EXPECT_THAT(Read({.from_step = low}).last(), ElementsAre(4.0));
}

INSTANTIATE_TEST_SUITE_P(, MetricStoreTest, EveryStore(), StoreName);

}  // namespace
}  // namespace trainyard::controller
