#include "controller/api/stored_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  // Stores losses of the steps first, first + apart, ..., last. Each loss equals its step number.
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

// The best loss is that of all steps, also of those before the newest one.
TEST_F(StoredLossesTest, TheStoredProgressHasTheBestLoss) {
  Store(1, 3, 20);
  const auto progress = StoredProgress(job_, metrics_);
  ASSERT_TRUE(progress.ok() && progress->has_value()) << progress.status();
  EXPECT_EQ((*progress)->best_loss(), 3);
  EXPECT_EQ((*progress)->loss(), 20);
}

}  // namespace
}  // namespace trainyard::controller
