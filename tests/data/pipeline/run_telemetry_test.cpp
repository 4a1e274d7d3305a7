#include "data/pipeline/run_telemetry.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "proto/contract/data_report.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

std::vector<nlohmann::json> LinesOf(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(ReadFile(path));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(RunTelemetryTest, WritesRecordsAtMostOnceASecond) {
  const TextDirectory directory;
  int64_t now = 5000;
  RunTelemetry telemetry(directory / "t", [&] { return now; });
  telemetry.EnterPhase(Phase::kTrain);
  EXPECT_FALSE(telemetry.Advance(3 << 20));
  now += 2000;
  EXPECT_TRUE(telemetry.Advance(1 << 20));
  EXPECT_FALSE(telemetry.Advance(1));
  const auto lines = LinesOf(directory / "t");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["type"], "phase");
  EXPECT_EQ(lines[0]["phase"], "train");
  EXPECT_EQ(lines[0]["time_ms"], 5000);
  EXPECT_EQ(lines[1]["type"], "rank");
  EXPECT_EQ(lines[1]["step"], 4);
  EXPECT_EQ(lines[1]["step_seconds"], 0.5);
  EXPECT_GT(lines[1]["memory_bytes"], 0);
}

TEST(RunTelemetryTest, WritesRateAndTimeLeft) {
  const TextDirectory directory;
  RunTelemetry telemetry(directory / "t", [] { return int64_t{1}; });
  telemetry.Advance(10 << 20);
  telemetry.WriteMetrics({.step = 2,
                          .steps = 5,
                          .bytes = 10 << 20,
                          .total_bytes = 30 << 20,
                          .seconds = 10,
                          .documents = PassDocuments{.read = 7, .dropped = 3, .tokens = 99}});
  const auto lines = LinesOf(directory / "t");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["type"], "metrics");
  EXPECT_EQ(lines[0]["step"], 10);
  EXPECT_EQ(lines[0]["total_steps"], 30);
  EXPECT_EQ(lines[0]["pipeline_step"], 2);
  EXPECT_EQ(lines[0]["pipeline_steps"], 5);
  EXPECT_EQ(lines[0]["documents"], 7);
  EXPECT_EQ(lines[0]["dropped_documents"], 3);
  EXPECT_EQ(lines[0]["tokens"], 99);
  EXPECT_EQ(lines[0]["bytes_per_second"], 1 << 20);
  EXPECT_EQ(lines[0]["eta_seconds"], 20);
}

TEST(RunTelemetryTest, WritesTheBlockThatHasBeenInWorkForTheLongestTime) {
  const TextDirectory directory;
  RunTelemetry telemetry(directory / "t", [] { return int64_t{1}; });
  telemetry.WriteMetrics({.slowest = RunningBlock{.number = 17, .seconds = 4.5, .rank = 2}});
  telemetry.WriteMetrics({});
  const auto lines = LinesOf(directory / "t");
  ASSERT_EQ(lines.size(), 2u);
  ASSERT_TRUE(lines[0].contains("slowest_block"));
  EXPECT_EQ(lines[0]["slowest_block"], 17);
  EXPECT_EQ(lines[0]["slowest_block_seconds"], 4.5);
  EXPECT_EQ(lines[0]["slowest_block_rank"], 2);
  EXPECT_FALSE(lines[1].contains("slowest_block"));
}

// The work of rank 0 between two passes reads no input.
TEST(RunTelemetryTest, WorkWithoutDocumentsKeepsTheNumberOfSteps) {
  const TextDirectory directory;
  RunTelemetry telemetry(directory / "t", [] { return int64_t{1}; });
  telemetry.EnterPhase(Phase::kDecide);
  EXPECT_EQ(telemetry.phase(), Phase::kDecide);
  telemetry.Advance(10 << 20);
  telemetry.WriteMetrics(
      {.step = 2, .steps = 5, .bytes = 1 << 20, .total_bytes = 3 << 20, .seconds = 1});
  telemetry.WriteMetrics({.step = 2, .steps = 5, .bytes = 1 << 20, .seconds = 1});
  const auto lines = LinesOf(directory / "t");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1]["total_steps"], 10);
  EXPECT_EQ(lines[1]["eta_seconds"], 2);
  EXPECT_FALSE(lines[1].contains("documents"));
  EXPECT_FALSE(lines[2].contains("eta_seconds")) << "the size is unknown";
}

TEST(RunTelemetryTest, DividesAReportBetweenCharacters) {
  const TextDirectory directory;
  RunTelemetry telemetry(directory / "t", [] { return int64_t{1}; });
  // The limit of a part is within a character.
  std::string report = "xxx";
  while (report.size() < kMaxDataReportBytes) report += "\"\u20ac\\";
  report.resize((kMaxDataReportBytes / 5 - 1) * 5 + 3);
  telemetry.WriteReport(report);
  telemetry.WriteReport("{}");
  std::string joined;
  const auto lines = LinesOf(directory / "t");
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["type"], "data_report");
    EXPECT_EQ(lines[i]["number"], 1);
    EXPECT_EQ(lines[i]["part"], i + 1);
    EXPECT_EQ(lines[i]["parts"], lines.size() - 1);
    joined += lines[i]["text"];
  }
  EXPECT_EQ(joined, report);
  EXPECT_LE(lines.size() - 1, static_cast<size_t>(kMaxDataReportParts));
  EXPECT_EQ(lines.back()["number"], 2);
  EXPECT_EQ(lines.back()["text"], "{}");
  // The worker drops longer lines.
  std::istringstream text(ReadFile(directory / "t"));
  for (std::string line; std::getline(text, line);) EXPECT_LT(line.size(), 64u << 10);
}

TEST(RunTelemetryTest, WritesNothingWithoutAPath) {
  RunTelemetry telemetry("", [] { return int64_t{1}; });
  telemetry.EnterPhase(Phase::kInit);
  telemetry.WriteMetrics({});
  EXPECT_EQ(telemetry.steps(), 0);
}

}  // namespace
}  // namespace trainyard::data
