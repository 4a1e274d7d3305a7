#include "controller/retention/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RetentionPolicyTest, AnEmptyFileAndAnEmptySectionKeepTheDefaults) {
  for (const char* yaml : {"", "retention:", "# nothing", "cost: {gpu_hour_price: 2}"}) {
    const auto policy = ParseRetention(yaml);
    ASSERT_TRUE(policy.ok()) << policy.status();
    EXPECT_THAT(
        DescribePolicy(*policy),
        ElementsAre("logs 30d, at most 40% of the disk", "metrics 180d, at most 20% of the disk",
                    "events 365d, at most 20% of the disk", "jobs 730d", "checkpoints forever"));
  }
}

TEST(RetentionPolicyTest, ReadsEveryKey) {
  const auto policy = ParseRetention(R"(
retention:
  logs: 12h
  metrics: never
  events: 90m
  jobs: 45s
  checkpoints: with_jobs
  logs_disk_share: 50%
  metrics_disk_share: 2.5%
  events_disk_share: 0%
)");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->logs.keep_ms, 12 * 3'600'000);
  EXPECT_EQ(policy->metrics.keep_ms, std::nullopt);
  EXPECT_EQ(policy->events.keep_ms, 90 * 60'000);
  EXPECT_EQ(policy->jobs_ms, 45'000);
  EXPECT_TRUE(policy->checkpoints_with_jobs);
  EXPECT_DOUBLE_EQ(policy->logs.disk_share, 0.5);
  EXPECT_DOUBLE_EQ(policy->metrics.disk_share, 0.025);
  EXPECT_DOUBLE_EQ(policy->events.disk_share, 0);
}

TEST(RetentionPolicyTest, RefusesWhatItCannotMean) {
  for (const char* yaml :
       {"retention: {logs: 30}", "retention: {logs: -1d}", "retention: {logs: 1w}",
        "retention: {logs: d}", "retention: {logs: 99999999999999999d}", "retention: {log: 30d}",
        "retention: {logs_disk_share: 0.4}", "retention: {logs_disk_share: 101%}",
        "retention: {logs_disk_share: nan%}", "retention: {checkpoints: 30d}",
        "retention: {logs: [30d]}", "retention: 30d", "listen: here", "[1]", "a: : b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRetention(yaml).status())) << yaml;
  }
  EXPECT_THAT(std::string(ParseRetention("retention: {log: 30d}").status().message()),
              HasSubstr("the keys are logs, metrics"));
}

TEST(RetentionPolicyTest, ATimeIsDueWhenItIsOver) {
  EXPECT_FALSE(IsDue(1000, 5000, 5999));
  EXPECT_TRUE(IsDue(1000, 5000, 6000));
  EXPECT_FALSE(IsDue(std::nullopt, 0, 1'000'000'000));
}

TEST(RetentionPolicyTest, TheBoundIsAPartOfTheDisk) {
  EXPECT_EQ(BoundBytes({.keep_ms = {}, .disk_share = 0.25}, 1000), 250);
  EXPECT_EQ(BoundBytes({.keep_ms = {}, .disk_share = 0.25}, 0), 0);
  EXPECT_EQ(BoundBytes({.keep_ms = {}, .disk_share = 0}, 1000), 0);
}

}  // namespace
}  // namespace trainyard::controller
