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
  }
}

}  // namespace
}  // namespace trainyard::controller
