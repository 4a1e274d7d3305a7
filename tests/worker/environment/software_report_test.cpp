#include "worker/environment/software_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

std::vector<std::string> OnNode(std::vector<std::string> command) { return command; }

TEST(SoftwareReportTest, FindsCudaAndNcclAmongPackages) {
  LibraryVersions found = VersionsIn(
      {"nvidia-cuda-runtime-cu12==12.4.127", "nvidia-nccl-cu12==2.21.5", "torch==2.5.1+cu121"});
  EXPECT_EQ(found.cuda, "12.4.127");
  EXPECT_EQ(found.nccl, "2.21.5");
  EXPECT_EQ(VersionsIn({"torch==2.5.1+cu121"}).cuda, "12.1");
  EXPECT_EQ(VersionsIn({"torch==2.5.1+cu92"}).cuda, "");
  EXPECT_EQ(VersionsIn({"torch==2.5.1", "other"}).cuda, "");
}

TEST(SoftwareReportTest, ReadsTheVersionOfTheDriver) {
  EXPECT_EQ(DriverVersion("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\n"
                          "GCC version:  gcc version 12.2.0"),
            "550.54.15");
  EXPECT_EQ(DriverVersion(""), "");
}

TEST(SoftwareReportTest, TheWorkerReadsTheLine) {
  EnvironmentOptions options;
  options.command = {"python3", "train.py"};
  const auto record = ParseTelemetryLine(SoftwareLine(options, OwnVariables(), OnNode));
  ASSERT_TRUE(record.ok()) << record.status();
  ASSERT_TRUE(record->has_environment());
  EXPECT_GT(record->time_ms(), 0);
  EXPECT_EQ(record->environment().problem(), "");
  EXPECT_THAT(record->environment().interpreter(), HasSubstr("python3"));
  EXPECT_THAT(record->environment().interpreter_version(), testing::StartsWith("3."));
}

TEST(SoftwareReportTest, AMissingInterpreterIsPartOfTheReport) {
  EnvironmentOptions options;
  options.command = {"./train"};
  const Variables variables = {{"PATH", "/nonexistent"}};
  const auto record = ParseTelemetryLine(SoftwareLine(options, variables, OnNode));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_THAT(record->environment().problem(),
              HasSubstr("no Python interpreter: no program `python3` in PATH"));
}

}  // namespace
}  // namespace trainyard::worker
