#include "data/stages/read_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

TEST(ReadRunTest, ReadsPlanRecordsAndReport) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  ASSERT_TRUE(IsRunDirectory(runs.out("out")));
  const auto run = ReadRun(runs.out("out") + "/");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->directory, runs.out("out"));
  EXPECT_EQ(run->stage, "red");
  const auto plan = runs.MakePlan(DropRed());
  EXPECT_EQ(run->plan.ToJson(), plan->ToJson());
  EXPECT_EQ(run->plan_hash, plan->Hash());
  EXPECT_EQ(run->records.size(), plan->blocks().size());
  ASSERT_TRUE(run->report);
  EXPECT_EQ((*run->report)["documents_in"], 312);
}

TEST(ReadRunTest, UsesTheRecordsBeforeTheFirstDamagedOne) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out", {.threads = 1}), absl::OkStatus());
  std::string log = ReadFile(runs.out("out/records.log"));
  const size_t second = log.find('\n') + 1;
  log[second + 30] ^= 1;
  WriteFile(runs.out("out/records.log"), log);
  const auto run = ReadRun(runs.out("out"));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->records.size(), 1u);
  EXPECT_FALSE(run->report) << "the run is not complete";
  EXPECT_EQ(ReadFile(runs.out("out/records.log")), log) << "the file is not changed";
}

TEST(ReadRunTest, RefusesOtherDirectoriesAndDamagedPlans) {
  const StageRuns runs;
  EXPECT_FALSE(IsRunDirectory(runs.out("in")));
  EXPECT_EQ(ReadRun(runs.out("in")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadRun(runs.out("none")).status().code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  const std::string plan = ReadFile(runs.out("out/plan.json"));
  for (const size_t size : {plan.size() / 2, plan.size() - 3}) {
    WriteFile(runs.out("out/plan.json"), plan.substr(0, size));
    const absl::Status status = ReadRun(runs.out("out")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("plan.json is damaged"));
    EXPECT_THAT(status.message(), HasSubstr("--force"));
  }
}

}  // namespace
}  // namespace trainyard::data
