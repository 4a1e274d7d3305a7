#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MetricsTest : public CliFixture {
 protected:
  MetricsTest() {
    answers().keys.add_keys("loss");
    answers().keys.add_keys("val_loss");
    AddSeries("loss", {1, 2, 3}, {4.5, 4.123456789, 3.9});
    AddSeries("val_loss", {2}, {4.2});
  }

  void AddSeries(const std::string& key, const std::vector<int64_t>& steps,
                 const std::vector<double>& values) {
    v1::Series& series = *answers().series.add_series();
    series.set_key(key);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.add_steps(steps[i]);
      series.add_times_ms(kNow + steps[i]);
      series.add_last(values[i]);
    }
  }
};

TEST_F(MetricsTest, TableJoinsTheSeriesByStep) {
  const CliResult result = Run({"metrics", "tiny"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "STEP     loss  val_loss\n"
            "   1      4.5         -\n"
            "   2  4.12346       4.2\n"
            "   3      3.9         -\n");
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(answers().series_requests[0].keys(), ElementsAre("loss", "val_loss"));
  EXPECT_EQ(answers().series_requests[0].buckets(), 20);
}

TEST_F(MetricsTest, TablesShowTheMainSeriesFirst) {
  for (const char* key : {"compute_seconds", "grad_norm/layer_0", "lr", "mfu", "mfu_causal"}) {
    answers().keys.add_keys(key);
  }
  const CliResult result = Run({"metrics", "tiny"});
  EXPECT_THAT(answers().series_requests[0].keys(), ElementsAre("loss", "val_loss", "lr", "mfu"));
  EXPECT_THAT(result.err, HasSubstr("3 more metrics"));
  EXPECT_THAT(result.err, HasSubstr("`trainyard metrics tiny --all`"));
  const std::vector<std::string> all(answers().keys.keys().begin(), answers().keys.keys().end());
  EXPECT_THAT(Run({"metrics", "tiny", "--all"}).err, IsEmpty());
  EXPECT_THAT(answers().series_requests[1].keys(), ElementsAreArray(all));
  EXPECT_THAT(Run({"metrics", "tiny", "-o", "csv"}).err, IsEmpty());
  EXPECT_THAT(answers().series_requests[2].keys(), ElementsAreArray(all));
  Run({"metrics", "tiny", "compute_seconds"});
  EXPECT_THAT(answers().series_requests[3].keys(), ElementsAre("compute_seconds"));
  EXPECT_NE(Run({"metrics", "tiny", "loss", "--all"}).exit_code, 0);
}

TEST_F(MetricsTest, AProgramsOwnMetricsAreAllShown) {
  answers().keys.clear_keys();
  answers().keys.add_keys("entropy");
  answers().keys.add_keys("reward");
  EXPECT_THAT(Run({"metrics", "tiny"}).err, IsEmpty());
  EXPECT_THAT(answers().series_requests[0].keys(), ElementsAre("entropy", "reward"));
}

TEST_F(MetricsTest, ThinnedPointsAreSaidToBeSo) {
  v1::Series& loss = *answers().series.mutable_series(0);
  for (const int64_t count : {100, 100, 51}) loss.add_counts(count);
  const CliResult result = Run({"metrics", "tiny", "loss"});
  EXPECT_THAT(result.err, HasSubstr("showing 3 of 251 points"));
  EXPECT_THAT(result.err, HasSubstr("`trainyard metrics tiny --buckets 0`"));
  EXPECT_THAT(Run({"metrics", "tiny", "-o", "csv", "--buckets", "3"}).err,
              HasSubstr("--buckets 0"));
  EXPECT_THAT(Run({"metrics", "tiny", "-o", "name"}).err, IsEmpty());
}

TEST_F(MetricsTest, PointsThatWereNotMergedNeedNoWord) {
  v1::Series& loss = *answers().series.mutable_series(0);
  for (int i = 0; i < 3; ++i) loss.add_counts(1);
  EXPECT_THAT(Run({"metrics", "tiny", "loss"}).err, IsEmpty());
}

TEST_F(MetricsTest, CsvHasEveryPointInFull) {
  EXPECT_EQ(Run({"metrics", "tiny@2", "--from", "1", "--to", "9", "-o", "csv"}).out,
            "STEP,TIME,loss,val_loss\n"
            "1,2026-11-21T12:00:00.001Z,4.5,\n"
            "2,2026-11-21T12:00:00.002Z,4.123456789,4.2\n"
            "3,2026-11-21T12:00:00.003Z,3.9,\n");
  const v1::GetSeriesRequest& request = answers().series_requests[0];
  EXPECT_EQ(request.buckets(), 0);
  EXPECT_EQ(request.attempt(), 2);
  EXPECT_EQ(request.from_step(), 1);
  EXPECT_EQ(request.to_step(), 9);
}

TEST_F(MetricsTest, JsonHasTheColumns) {
  const nlohmann::json series = nlohmann::json::parse(Run({"metrics", "1", "-o", "json"}).out);
  EXPECT_EQ(series[0]["key"], "loss");
  EXPECT_EQ(series[0]["steps"], nlohmann::json({1, 2, 3}));
  EXPECT_EQ(series[0]["times"][0], "2026-11-21T12:00:00.001Z");
  EXPECT_EQ(series[0]["min"], nlohmann::json::array());
}

TEST_F(MetricsTest, AnUnknownMetricSuggestsTheNearest) {
  const CliResult result = Run({"metrics", "tiny", "los"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no metric `los`; did you mean `loss`?"));
}

TEST_F(MetricsTest, AJobWithoutMetricsIsNotAnError) {
  answers().keys.clear_keys();
  const CliResult result = Run({"metrics", "tiny", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "[]\n");
  EXPECT_THAT(result.err, HasSubstr("no metrics yet"));
  EXPECT_THAT(answers().series_requests, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
