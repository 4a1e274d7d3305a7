#include "controller/core/decide/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/explain/explain.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(LeftOutTest, ReportIsAnAlertOfTheController) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  const auto events = cluster.Do(ReportLeftOut{job, 1, 40, 12, 0});
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised"));
  EXPECT_EQ(events[0].actor(), "controller");
  const v1::AlertRaised& alert = events[0].alert_raised();
  EXPECT_EQ(alert.job_id(), job);
  EXPECT_EQ(alert.attempt(), 1);
  EXPECT_EQ(alert.step(), 40);
  EXPECT_EQ(alert.code(), kRecordsLeftOut);
  EXPECT_THAT(alert.message(),
              AllOf(HasSubstr("12 checkpoint records were not recorded"),
                    HasSubstr("60 checkpoint events"), Not(HasSubstr("and 0 alerts"))));
  const auto both = cluster.Do(ReportLeftOut{job, 1, 40, 1, 3});
  EXPECT_THAT(both.at(0).alert_raised().message(),
              HasSubstr("1 checkpoint records and 3 alerts were not recorded"));
}

TEST(LeftOutTest, ReportAboutAnUnknownJobIsNoEvent) {
  TestCluster cluster;
  EXPECT_THAT(cluster.Do(ReportLeftOut{7, 1, 40, 12, 3}), IsEmpty());
}

TEST(LeftOutTest, WhyNamesTheRecordsForSomeMinutes) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.observations.left_out[job] = {.checkpoints = 12, .alerts = 3, .newest_ms = 1000};
  const auto explain = [&](Timestamp now) {
    cluster.now = now;
    return ExplainJob(cluster.View(), cluster.state.jobs.at(job));
  };
  const v1::WhyJobResponse why = explain(2000);
  ASSERT_EQ(why.findings_size(), 1);
  EXPECT_EQ(why.findings(0).what(), "12 checkpoint records and 3 alerts were not recorded");
  EXPECT_THAT(why.findings(0).change(), HasSubstr("checkpoint.every_steps"));
  EXPECT_EQ(explain(1000 + 3'600'000).findings_size(), 0);
  EXPECT_EQ(explain(0).findings_size(), 0) << "the clock was set back";
}

TEST(LeftOutTest, TheTextCountsOnlyWhatWasLeftOut) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  const auto text = [&](int64_t checkpoints, int64_t alerts) {
    const std::string message =
        cluster.Do(ReportLeftOut{job, 1, 40, checkpoints, alerts}).at(0).alert_raised().message();
    return message.substr(0, message.find(" were not recorded, because "));
  };
  EXPECT_EQ(text(12, 0), "12 checkpoint records");
  EXPECT_EQ(text(0, 3), "3 alerts");
  EXPECT_EQ(text(1, 1), "1 checkpoint records and 1 alerts");
}

TEST(LeftOutTest, WhyNamesTheRecordsForFiveMinutesToTheMillisecond) {
  constexpr Timestamp kNewest = 1'000'000;
  Observations observations;
  observations.left_out[1] = {.checkpoints = 12, .alerts = 3, .newest_ms = kNewest};
  EXPECT_FALSE(LeftOutFinding(observations, 1, kNewest - 1).has_value());
  EXPECT_TRUE(LeftOutFinding(observations, 1, kNewest).has_value());
  EXPECT_TRUE(LeftOutFinding(observations, 1, kNewest + 300'000).has_value());
  EXPECT_FALSE(LeftOutFinding(observations, 1, kNewest + 300'001).has_value());
  EXPECT_FALSE(LeftOutFinding(observations, 2, kNewest).has_value());
}

}  // namespace
}  // namespace trainyard::controller
