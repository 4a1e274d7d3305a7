#include "worker/core/rank_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr RankLimits kLimits{
    .telemetry_bytes = 50 * kMiB, .telemetry_rate = kMiB, .log_rate = 2 * kMiB, .run_dir_bytes = 9};

TEST(RankUsageTest, ARankThatWritesSlowlyIsLeftAlone) {
  RankUsage usage;
  for (int second = 0; second < 1000; ++second) {
    const int64_t size = second * kMiB * 9 / 10;
    EXPECT_EQ(usage.Judge(kLimits, {.telemetry = size, .telemetry_stored = size, .log = 2 * size},
                          second * 1000),
              "");
  }
}

TEST(RankUsageTest, AFloodOfTelemetryIsSeenBeforeTheWindowIsOver) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge(kLimits, {}, 0), "");
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 10 * kMiB}, 200), "");
  EXPECT_THAT(usage.Judge(kLimits, {.telemetry = 11 * kMiB}, 400),
              AllOf(HasSubstr("11.0 MiB of telemetry within 10 s"), HasSubstr("allows 10.0 MiB"),
                    HasSubstr("--telemetry-rate-limit")));
}

TEST(RankUsageTest, AFloodAfterAQuietTimeIsSeenToo) {
  RankUsage usage;
  for (Timestamp now = 0; now <= 60'000; now += 200) EXPECT_EQ(usage.Judge(kLimits, {}, now), "");
  EXPECT_THAT(usage.Judge(kLimits, {.log = 21 * kMiB}, 60'200), HasSubstr("--log-rate-limit"));
}

TEST(RankUsageTest, BytesAreCountedFromTheNewestSampleThatIsAWindowOld) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge(kLimits, {}, 0), "");
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 5 * kMiB}, 500), "");
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 11 * kMiB}, 500 + RankUsage::kWindowMs), "");
}

TEST(RankUsageTest, SamplesAreHalfASecondApart) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge(kLimits, {}, 1000), "");
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 5 * kMiB}, 1400), "");
  EXPECT_THAT(usage.Judge(kLimits, {.telemetry = 11 * kMiB}, 1400 + RankUsage::kWindowMs),
              HasSubstr("11.0 MiB of telemetry"))
      << "counted from the sample at 1000";
}

TEST(RankUsageTest, BytesOfSeveralSamplesAddUp) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge(kLimits, {}, 20'000), "");
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 6 * kMiB}, 20'500), "");
  EXPECT_THAT(usage.Judge(kLimits, {.telemetry = 11 * kMiB}, 21'000),
              HasSubstr("11.0 MiB of telemetry"));
}

TEST(RankUsageTest, TheFirstCallOnANodeWithALongUptimeMeasuresNoRate) {
  constexpr Timestamp kHundredDays = 8'640'000'000;
  RankUsage usage;
  EXPECT_EQ(usage.Judge({.telemetry_rate = 1, .log_rate = 1},
                        {.telemetry = 9 * kMiB, .telemetry_stored = 9 * kMiB, .log = 9 * kMiB},
                        kHundredDays),
            "");
}

// Limits, file sizes exactly at one limit, file sizes one byte above this limit, and the flag that
// the message must name.
struct LimitCase {
  RankLimits limits;
  RankFileSizes at_limit;
  RankFileSizes above_limit;
  const char* flag;
};

TEST(RankUsageTest, ALimitIsExceededByOneByteMore) {
  const std::vector<LimitCase> cases = {
      {{.telemetry_bytes = 0, .telemetry_rate = 1, .log_rate = 0},
       {.telemetry = 10},
       {.telemetry = 11},
       "--telemetry-rate-limit"},
      {{.telemetry_bytes = 0, .telemetry_rate = 0, .log_rate = 1},
       {.log = 10},
       {.log = 11},
       "--log-rate-limit"},
      {{.telemetry_bytes = 1, .telemetry_rate = 0, .log_rate = 0},
       {.telemetry = 1},
       {.telemetry = 2},
       "--telemetry-limit"},
      {{.run_dir_bytes = 1}, {.run_dir = 1}, {.run_dir = 2}, "--run-dir-limit"},
  };
  for (const LimitCase& one : cases) {
    RankUsage usage;
    EXPECT_EQ(usage.Judge(one.limits, {}, 0), "") << one.flag;
    EXPECT_EQ(usage.Judge(one.limits, one.at_limit, 100), "") << one.flag;
    EXPECT_THAT(usage.Judge(one.limits, one.above_limit, 200), HasSubstr(one.flag));
  }
}

TEST(RankUsageTest, WhatWasWrittenBeforeTheWorkerStartedDoesNotCount) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge(kLimits, {.telemetry = 900 * kMiB, .telemetry_stored = 900 * kMiB}, 0), "");
}

TEST(RankUsageTest, TelemetryThatIsNotStoredAndTheRunDirectoryHaveLimits) {
  RankUsage usage;
  EXPECT_THAT(usage.Judge(kLimits, {.telemetry = 60 * kMiB, .telemetry_stored = 9 * kMiB}, 0),
              AllOf(HasSubstr("51.0 MiB"), HasSubstr("--telemetry-limit")));
  RankUsage other;
  EXPECT_EQ(other.Judge(kLimits, {.run_dir = 9}, 0), "");
  EXPECT_THAT(other.Judge(kLimits, {.run_dir = 10}, 0), HasSubstr("--run-dir-limit"));
}

TEST(RankUsageTest, FilesInTheRunDirectoryHaveALimit) {
  RankUsage usage;
  EXPECT_EQ(usage.Judge({.run_dir_files = 9}, {.run_dir_files = 9}, 0), "");
  EXPECT_THAT(usage.Judge({.run_dir_files = 9}, {.run_dir_files = 10}, 0),
              AllOf(HasSubstr("the rank had 10 files"), HasSubstr("allows 9"),
                    HasSubstr("--run-dir-files-limit")));
  EXPECT_THAT(usage.Judge({.run_dir_files = 9}, {.run_dir_files = kMostFiles}, 0),
              HasSubstr("the rank had 1000000 or more files"));
  EXPECT_THAT(usage.Judge({.run_dir_files = 1}, {.run_dir_files = 2}, 0), HasSubstr("allows 1"));
}

TEST(JudgeProcessesTest, ARankHasAtMostSoManyAndHalfOfTheMachine) {
  EXPECT_EQ(JudgeProcesses({.processes = 9}, 9), "");
  EXPECT_THAT(JudgeProcesses({.processes = 9}, 10),
              AllOf(HasSubstr("the rank had 10 processes"), HasSubstr("allows 9"),
                    HasSubstr("--processes-limit")));
  EXPECT_EQ(JudgeProcesses({.processes = 0}, 1 << 30), "");
  EXPECT_EQ(LimitsOnMachine({.processes = 9}, 10).processes, 5);
  EXPECT_EQ(LimitsOnMachine({.processes = 9}, 1000).processes, 9);
  EXPECT_EQ(LimitsOnMachine({.processes = 0}, 1000).processes, 0);
}

TEST(RankUsageTest, ZeroIsNoLimit) {
  RankUsage usage;
  const RankLimits none{0, 0, 0, 0};
  usage.Judge(none, {}, 0);
  EXPECT_EQ(usage.Judge(none, {1LL << 50, 0, 1LL << 50, 1LL << 50, 1LL << 50}, 100), "");
}

TEST(LimitsOnDiskTest, ASmallDiskLowersThem) {
  const RankLimits limits = LimitsOnDisk({}, {.bytes = 160 * kMiB, .files = 4000});
  EXPECT_EQ(limits.telemetry_bytes, 20 * kMiB);
  EXPECT_EQ(limits.telemetry_rate, kMiB) << "10 MiB in the window, a sixteenth of the disk";
  EXPECT_EQ(limits.run_dir_bytes, 40 * kMiB);
  EXPECT_EQ(limits.run_dir_files, 1000);
  EXPECT_EQ(limits.log_rate, RankLimits{}.log_rate) << "output is dropped when space is short";
}

TEST(LimitsOnDiskTest, ALargeOneLeavesThemAndNoneStaysNone) {
  EXPECT_EQ(LimitsOnDisk({}, {1LL << 40, 1 << 30}).telemetry_rate, RankLimits{}.telemetry_rate);
  EXPECT_EQ(LimitsOnDisk({.run_dir_bytes = 7}, {1LL << 40, 1 << 30}).run_dir_bytes, 7);
  EXPECT_EQ(LimitsOnDisk({.telemetry_bytes = 0}, {160 * kMiB, 0}).telemetry_bytes, 0);
  EXPECT_EQ(LimitsOnDisk({.telemetry_rate = 0}, {160 * kMiB, 0}).telemetry_rate, 0);
  EXPECT_EQ(LimitsOnDisk({}, {}).telemetry_bytes, RankLimits{}.telemetry_bytes)
      << "the size of the disk is not known";
  EXPECT_EQ(LimitsOnDisk({.run_dir_files = 7}, {1LL << 40, 1 << 30}).run_dir_files, 7);
  EXPECT_EQ(LimitsOnDisk({}, {1LL << 40, 0}).run_dir_files, kMostFiles - 1)
      << "a file system without a limit; no more are counted";
}

}  // namespace
}  // namespace trainyard::worker
