#include "controller/core/observations/data_progress.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

v1::MetricsRecord Record() {
  v1::MetricsRecord metrics;
  metrics.set_step(40);
  auto& values = *metrics.mutable_values();
  values["pipeline_step"] = 2;
  values["pipeline_steps"] = 5;
  values["documents"] = 120000;
  values["dropped_documents"] = 3000;
  values["bytes"] = 5e9;
  values["bytes_per_second"] = 80e6;
  values["tokens"] = 1.5e9;
  values["eta_seconds"] = 95;
  values["slowest_block"] = 17;
  values["slowest_block_seconds"] = 4.5;
  values["slowest_block_rank"] = 0;
  return metrics;
}

TEST(DataProgressTest, ReadsEveryMetric) {
  v1::Progress progress;
  ObserveDataProgress(Record(), progress);
  EXPECT_EQ(progress.data().stage(), 2);
  EXPECT_EQ(progress.data().stages(), 5);
  EXPECT_EQ(progress.data().documents(), 120000);
  EXPECT_EQ(progress.data().dropped_documents(), 3000);
  EXPECT_EQ(progress.data().bytes(), 5'000'000'000);
  EXPECT_EQ(progress.data().bytes_per_second(), 80e6);
  EXPECT_EQ(progress.data().tokens(), 1'500'000'000);
  EXPECT_EQ(progress.eta_seconds(), 95);
  ASSERT_TRUE(progress.data().has_slowest_block());
  EXPECT_EQ(progress.data().slowest_block().number(), 17);
  EXPECT_EQ(progress.data().slowest_block().seconds(), 4.5);
  EXPECT_EQ(progress.data().slowest_block().rank(), 0);
}

TEST(DataProgressTest, TheDocumentsOfTheFirstStepAreThoseOfTheJob) {
  v1::Progress progress;
  v1::MetricsRecord metrics = Record();
  (*metrics.mutable_values())["pipeline_step"] = 1;
  ObserveDataProgress(metrics, progress);
  EXPECT_EQ(progress.data().read_documents(), 120000);
  (*metrics.mutable_values())["pipeline_step"] = 2;
  (*metrics.mutable_values())["documents"] = 7;
  ObserveDataProgress(metrics, progress);
  EXPECT_EQ(progress.data().documents(), 7);
  EXPECT_EQ(progress.data().read_documents(), 120000);
  // An attempt that continues in a later step does not report the first one.
  v1::Progress continued;
  ObserveDataProgress(Record(), continued);
  EXPECT_EQ(continued.data().read_documents(), 0);
}

TEST(DataProgressTest, ARecordWithoutABlockInWorkClearsIt) {
  v1::Progress progress;
  ObserveDataProgress(Record(), progress);
  v1::MetricsRecord metrics = Record();
  metrics.mutable_values()->erase("slowest_block_seconds");
  ObserveDataProgress(metrics, progress);
  EXPECT_FALSE(progress.data().has_slowest_block());
}

TEST(DataProgressTest, ARecordWithoutRateAndPredictionClearsBoth) {
  v1::Progress progress;
  ObserveDataProgress(Record(), progress);
  ObserveDataProgress(v1::MetricsRecord(), progress);
  EXPECT_EQ(progress.data().bytes_per_second(), 0);
  EXPECT_EQ(progress.eta_seconds(), 0);
  EXPECT_EQ(progress.data().documents(), 120000) << "counts stay";
}

TEST(DataProgressTest, ImpossibleValuesAreIgnored) {
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    v1::Progress progress;
    ObserveDataProgress(Record(), progress);
    v1::MetricsRecord metrics = Record();
    for (auto& [name, value] : *metrics.mutable_values()) value = bad;
    ObserveDataProgress(metrics, progress);
    EXPECT_EQ(progress.data().stage(), 2) << bad;
    EXPECT_EQ(progress.data().documents(), 120000) << bad;
    EXPECT_EQ(progress.data().bytes_per_second(), 0) << bad;
    EXPECT_EQ(progress.eta_seconds(), 0) << bad;
    EXPECT_FALSE(progress.data().has_slowest_block()) << bad;
  }
}

}  // namespace
}  // namespace trainyard::controller
