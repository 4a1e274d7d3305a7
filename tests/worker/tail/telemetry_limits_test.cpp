#include "worker/tail/telemetry_limits.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

v1::TelemetryBatch Batch(int64_t begin, int64_t end) {
  v1::TelemetryBatch batch;
  batch.set_begin_offset(begin);
  batch.set_end_offset(end);
  return batch;
}

v1::TelemetryBatch Metrics(int64_t begin, std::size_t first, std::size_t count) {
  v1::TelemetryBatch batch = Batch(begin, begin + 100);
  for (std::size_t i = first; i < first + count; ++i) {
    v1::MetricsRecord& metrics = *batch.add_records()->mutable_metrics();
    metrics.set_step(static_cast<int64_t>(i));
    (*metrics.mutable_values())[absl::StrCat("x_", i)] = 1;
    (*metrics.mutable_values())["loss"] = 2;
  }
  return batch;
}

v1::TelemetryBatch Alerts(int64_t begin, int count) {
  v1::TelemetryBatch batch = Batch(begin, begin + 100);
  for (int i = 0; i < count; ++i) batch.add_records()->mutable_alert()->set_code("spike");
  return batch;
}

TEST(TelemetryLimitsTest, KeepsKnownMetricsAndRefusesNewOnesBeyondTheLimit) {
  TelemetryLimits limits;
  v1::TelemetryBatch batch = Metrics(0, 0, kMaxSeriesOfRank - 1);
  limits.Apply(batch);
  EXPECT_EQ(batch.records_size(), kMaxSeriesOfRank - 1) << "no alert yet";

  batch = Metrics(100, kMaxSeriesOfRank, 2);
  limits.Apply(batch);
  ASSERT_EQ(batch.records_size(), 3);
  EXPECT_EQ(batch.records(1).metrics().values_size(), 1);
  EXPECT_EQ(batch.records(1).metrics().values().at("loss"), 2);
  EXPECT_EQ(batch.records(2).alert().code(), "too_many_metrics");
  EXPECT_THAT(batch.records(2).alert().message(), HasSubstr("1000"));

  batch = Metrics(200, 0, 1);
  batch.mutable_records()->MergeFrom(Metrics(200, kMaxSeriesOfRank + 5, 1).records());
  limits.Apply(batch);
  ASSERT_EQ(batch.records_size(), 2) << "said once";
  EXPECT_EQ(batch.records(0).metrics().values_size(), 2);
  EXPECT_EQ(batch.records(1).metrics().values_size(), 1);
}

TEST(TelemetryLimitsTest, StopsAFloodOfAlertsAndSaysSo) {
  TelemetryLimits limits;
  v1::TelemetryBatch batch = Alerts(0, kMaxAlertsOfRank);
  limits.Apply(batch);
  EXPECT_EQ(batch.records_size(), kMaxAlertsOfRank);
  batch = Alerts(100, 1);
  limits.Apply(batch);
  ASSERT_EQ(batch.records_size(), 2);
  EXPECT_EQ(batch.records(1).alert().code(), "too_many_alerts");
  batch = Alerts(200, 5);
  batch.add_records()->mutable_phase()->set_phase("train");
  limits.Apply(batch);
  ASSERT_EQ(batch.records_size(), 1);
  EXPECT_TRUE(batch.records(0).has_phase());
}

// After a reconnect, the worker reads unacknowledged telemetry again.
TEST(TelemetryLimitsTest, ReadingAgainNeitherCountsNorLoses) {
  TelemetryLimits limits;
  for (int again = 0; again < 5; ++again) {
    v1::TelemetryBatch batch = Alerts(0, kMaxAlertsOfRank / 2);
    limits.Apply(batch);
    EXPECT_EQ(batch.records_size(), kMaxAlertsOfRank / 2);
  }
  v1::TelemetryBatch batch = Alerts(100, kMaxAlertsOfRank / 2 + 1);
  limits.Apply(batch);
  EXPECT_EQ(batch.records_size(), kMaxAlertsOfRank / 2 + 2);
  batch = Alerts(0, kMaxAlertsOfRank / 2);
  limits.Apply(batch);
  EXPECT_EQ(batch.records_size(), kMaxAlertsOfRank / 2);
  batch = Alerts(0, kMaxAlertsOfRank / 2 + 1);
  batch.set_end_offset(150);
  limits.Apply(batch);
  EXPECT_EQ(batch.records_size(), kMaxAlertsOfRank / 2 + 1) << "longer than it was";
}

TEST(TelemetryLimitsTest, ReadingAgainKeepsTheAlertsAboutTheLimits) {
  TelemetryLimits limits;
  for (int again = 0; again < 2; ++again) {
    v1::TelemetryBatch batch = Alerts(0, kMaxAlertsOfRank + 1);
    limits.Apply(batch);
    EXPECT_EQ(batch.records(kMaxAlertsOfRank + 1).alert().code(), "too_many_alerts");
    batch = Metrics(100, 0, kMaxSeriesOfRank + 1);
    limits.Apply(batch);
    EXPECT_EQ(batch.records(kMaxSeriesOfRank + 1).alert().code(), "too_many_metrics");
  }
}

TEST(TelemetryLimitsTest, TheFirstLineThatCannotBeReadIsReportedOnce) {
  TelemetryLimits limits;
  const auto bad = [&](int64_t begin) {
    v1::TelemetryBatch batch = Batch(begin, begin + 100);
    batch.set_bad_lines(3);
    batch.set_bad_line("not JSON, near byte 2: nonsense");
    limits.Apply(batch);
    return batch;
  };
  v1::TelemetryBatch good = Batch(0, 100);
  limits.Apply(good);
  EXPECT_EQ(good.records_size(), 0);
  ASSERT_EQ(bad(100).records_size(), 1);
  EXPECT_EQ(bad(200).records_size(), 0);
  const v1::TelemetryBatch again = bad(100);
  ASSERT_EQ(again.records_size(), 1) << "the same bytes after a reconnect";
  EXPECT_EQ(again.records(0).alert().code(), "bad_telemetry");
  EXPECT_THAT(again.records(0).alert().message(), HasSubstr("not JSON, near byte 2: nonsense"));
}

}  // namespace
}  // namespace trainyard::worker
