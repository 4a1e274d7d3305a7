#include "cli/recipes/calibration_file.h"

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

planner::Calibration Measured() {
  planner::Calibration calibration;
  calibration.device = "H200";
  calibration.scale = {.compute = 1.25, .optimizer = 1, .data_wait = 2};
  calibration.runs = 8;
  calibration.error_before = 0.2;
  calibration.error_after = 0.01;
  return calibration;
}

class CalibrationFileTest : public CliFixture {
 protected:
  CalibrationFileTest() { environment_.recipe_directories = {RECIPES_DIRECTORY}; }
};

TEST_F(CalibrationFileTest, IsReadAsItWasWritten) {
  const std::string text = CalibrationText(Measured(), "Measured by a test\non one node.");
  EXPECT_THAT(text, StartsWith("# Measured by a test\n# on one node.\ndevice: H200\n"));
  const absl::StatusOr<planner::Calibration> read = ReadCalibration(WriteFile("h200.yaml", text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->scale, Measured().scale);
  EXPECT_EQ(read->runs, 8);
  EXPECT_EQ(read->error_after, 0.01);
}

// The part expert_wait was added after the first files had been written.
TEST_F(CalibrationFileTest, PartsThatAnEarlierVersionDidNotMeasureAreNotCorrected) {
  std::string text = CalibrationText(Measured(), "");
  const std::string line = "  expert_wait: 1\n";
  ASSERT_NE(text.find(line), std::string::npos) << text;
  text.erase(text.find(line), line.size());
  const absl::StatusOr<planner::Calibration> read = ReadCalibration(WriteFile("old.yaml", text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->scale, Measured().scale);
}

TEST_F(CalibrationFileTest, WhatIsNoCalibrationIsRefused) {
  const auto refusal = [&](const std::string& text) {
    return std::string(ReadCalibration(WriteFile("bad.yaml", text)).status().message());
  };
  EXPECT_THAT(refusal("name: job\n"), AllOf(HasSubstr("bad.yaml"), HasSubstr("--calibrate")));
  EXPECT_THAT(refusal("device: H200\nscale: {compute: fast}\n"), HasSubstr("must be a number"));
  EXPECT_THAT(refusal("device: H200\nscale: {compote: 2}\n"), HasSubstr("not a part of a step"));
  std::string zero = CalibrationText(Measured(), "");
  zero.replace(zero.find("compute: 1.25"), 13, "compute: 0   ");
  EXPECT_THAT(refusal(zero), HasSubstr("`scale.compute` must be from"));
  EXPECT_THAT(refusal("device: [\n"), HasSubstr("bad.yaml"));
  EXPECT_THAT(ReadCalibration("/nowhere").status().message(), HasSubstr("cannot be opened"));
}

TEST_F(CalibrationFileTest, PlanCorrectsItsTimes) {
  const std::string file = WriteFile("h200.yaml", CalibrationText(Measured(), ""));
  const auto compute = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"plan",    "llama3-8b", "--device", "H200",
                                     "--nodes", "1",         "-o",       "json"};
    line.insert(line.end(), more.begin(), more.end());
    const CliResult result = Run(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json plan = nlohmann::json::parse(result.out);
    return plan["step"]["step_seconds"].get<double>();
  };
  EXPECT_GT(compute({"--calibration", file}), 1.1 * compute({}));
  const CliResult other =
      Run({"plan", "llama3-8b", "--device", "A100", "--nodes", "1", "--calibration", file});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("measured on H200, but the plan is for A100"));
}

}  // namespace
}  // namespace trainyard::cli
