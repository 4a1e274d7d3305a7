#include "worker/tail/checkpoint_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/worker/tail/growing_file.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

std::string ContentsOf(const GrowingFile& file) {
  std::ifstream in(file.path());
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CheckpointLinesTest, AreReadAsTheyWereWritten) {
  v1::CheckpointRecord record;
  record.set_step(100);
  record.set_attempt(2);
  record.set_path("/c/a \"b\"\n.pt");
  record.set_bytes(int64_t{1} << 40);
  std::string line = CheckpointLine(record, 1'700'000'000'123);
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  line.pop_back();
  auto parsed = ParseTelemetryLine(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->time_ms(), 1'700'000'000'123);
  EXPECT_EQ(parsed->checkpoint().SerializeAsString(), record.SerializeAsString());

  record.set_deleted(true);
  record.clear_bytes();
  line = CheckpointLine(record, 5);
  line.pop_back();
  parsed = ParseTelemetryLine(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->checkpoint().SerializeAsString(), record.SerializeAsString());
}

TEST(CheckpointLinesTest, MetricsAreReadAsTheyWereWritten) {
  v1::MetricsRecord record;
  record.set_step(7);
  (*record.mutable_values())["loss"] = std::nan("");
  (*record.mutable_values())["lr"] = 2.5e-4;
  (*record.mutable_values())["val_loss"] = 3;
  record.add_evaluation_sets("val");
  const std::string lines = MetricsLines(record, 1'700'000'000'123);
  const std::size_t end = lines.find('\n');
  ASSERT_NE(end, std::string::npos);
  const auto evaluation = ParseTelemetryLine(lines.substr(0, end));
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  EXPECT_EQ(evaluation->evaluation().data_set(), "val");
  EXPECT_EQ(evaluation->evaluation().loss(), 3);
  const auto metrics = ParseTelemetryLine(lines.substr(end + 1));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->time_ms(), 1'700'000'000'123);
  EXPECT_EQ(metrics->metrics().step(), 7);
  EXPECT_EQ(metrics->metrics().values_size(), 2);
  EXPECT_TRUE(std::isnan(metrics->metrics().values().at("loss")));
  EXPECT_EQ(metrics->metrics().values().at("lr"), 2.5e-4);
}

TEST(CheckpointLinesTest, AlertIsReadAsItWasWritten) {
  v1::AlertRecord alert;
  alert.set_code("checkpoint_watch");
  alert.set_message("bytes that are not UTF-8: \xff");
  std::string line = AlertLine(alert, 5);
  line.pop_back();
  const auto parsed = ParseTelemetryLine(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->alert().code(), "checkpoint_watch");
  EXPECT_THAT(parsed->alert().message(), testing::StartsWith("bytes that are not UTF-8: "));
}

TEST(AppendTelemetryTest, NeverWritesIntoALineOfTheProgram) {
  GrowingFile file;
  file.Append("");
  EXPECT_EQ(AppendTelemetry(file.path(), "a\n", false), absl::OkStatus());
  file.Append("half a li");
  EXPECT_TRUE(absl::IsUnavailable(AppendTelemetry(file.path(), "b\n", false)));
  file.Append("ne\n");
  EXPECT_EQ(AppendTelemetry(file.path(), "b\n", false), absl::OkStatus());
  file.Append("cut o");
  EXPECT_EQ(AppendTelemetry(file.path(), "c\n", true), absl::OkStatus());
  EXPECT_EQ(ContentsOf(file), "a\nhalf a line\nb\ncut o\nc\n");
  EXPECT_FALSE(AppendTelemetry(file.path() + "x", "a\n", false).ok());
}

}  // namespace
}  // namespace trainyard::worker
