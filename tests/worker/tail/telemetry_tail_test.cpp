#include "worker/tail/telemetry_tail.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/worker/tail/growing_file.h"
#include "worker/tail/file_tail.h"

namespace trainyard::worker {
namespace {

constexpr Timestamp kNow = 1700000000000;
// Values of the flag that states whether the file is complete. Only in a complete file is a last
// line without a line end read.
constexpr bool kGrowing = false;
constexpr bool kComplete = true;

// Blank lines do not count as bad. A record without time_ms gets the time at which it is read.
TEST(TelemetryTailTest, CountsBadLinesAndMovesOn) {
  const GrowingFile file;
  file.Append("{\"type\":\"metrics\",\"time_ms\":7,\"step\":1,\"loss\":2}\nnonsense\n\n \t\n");
  file.Append(
      "{\"type\":\"phase\",\"phase\":\"done\"}\n{\"type\":\"metrics\",\"step\":2,\"loss\":1}");
  const absl::StatusOr<v1::TelemetryBatch> batch = ReadTelemetry({file.path(), 0, kGrowing, kNow});
  ASSERT_TRUE(batch.ok()) << batch.status();
  ASSERT_EQ(batch->records_size(), 2);
  EXPECT_EQ(batch->bad_lines(), 1);
  EXPECT_EQ(batch->records(0).time_ms(), 7);
  EXPECT_EQ(batch->records(1).time_ms(), kNow);

  const absl::StatusOr<v1::TelemetryBatch> last =
      ReadTelemetry({file.path(), batch->end_offset(), kComplete, kNow});
  ASSERT_EQ(last->records_size(), 1);
  EXPECT_EQ(last->records(0).metrics().step(), 2);
  EXPECT_EQ(last->begin_offset(), batch->end_offset());
  const absl::StatusOr<v1::TelemetryBatch> nothing =
      ReadTelemetry({file.path(), last->end_offset(), kComplete, kNow});
  EXPECT_EQ(nothing->end_offset(), last->end_offset());
}

// Output lines without metrics do not count as bad. An incomplete line is left for the next read.
TEST(TelemetryTailTest, ReadsMetricsFromOutput) {
  v1::LogParserSpec spec;
  spec.set_kind(v1::LOG_PARSER_KIND_NANOGPT);
  const auto parser = MakeLogParser(spec, 1);
  ASSERT_TRUE(parser.ok());
  const GrowingFile file;
  const std::string whole_lines = "loading\niter 3: loss 4.5, time 20.00ms, mfu 1.00%\nsaving\n";
  file.Append(whole_lines + "iter 4: lo");
  const absl::StatusOr<v1::TelemetryBatch> batch =
      ReadParsedLog({file.path(), 0, kGrowing, kNow}, **parser);
  ASSERT_TRUE(batch.ok()) << batch.status();
  ASSERT_EQ(batch->records_size(), 1);
  EXPECT_EQ(batch->records(0).time_ms(), kNow);
  EXPECT_EQ(batch->records(0).metrics().step(), 3);
  EXPECT_EQ(batch->bad_lines(), 0);
  EXPECT_EQ(batch->end_offset(), whole_lines.size());
}

// The output of a program that rewrites its last line for hours.
TEST(TelemetryTailTest, CarriageReturnsEndLinesOfOutput) {
  v1::LogParserSpec spec;
  spec.set_kind(v1::LOG_PARSER_KIND_REGEX);
  spec.set_pattern("reduced_train_loss=(?P<loss>[0-9.]+), global_step=(?P<step>\\d+)");
  const auto parser = MakeLogParser(spec, 1);
  ASSERT_TRUE(parser.ok());
  const GrowingFile file;
  const std::string whole =
      "\rEpoch 0: :   1%|#  | 1/100 [00:01<01:30, v_num=, reduced_train_loss=9.900, "
      "global_step=1.000]\rEpoch 0: :   2%|#  | 2/100 [00:02<01:30, v_num=, "
      "reduced_train_loss=9.800, global_step=2.000]\r";
  file.Append(whole + "Epoch 0: :   3%|#  | 3/100 [00:03, reduced_train_loss=9.700, global_step=3");
  absl::StatusOr<v1::TelemetryBatch> batch =
      ReadParsedLog({file.path(), 0, kGrowing, kNow}, **parser);
  ASSERT_TRUE(batch.ok()) << batch.status();
  ASSERT_EQ(batch->records_size(), 2);
  EXPECT_EQ(batch->records(1).metrics().step(), 2);
  EXPECT_EQ(batch->records(1).metrics().values().at("loss"), 9.8);
  EXPECT_EQ(batch->end_offset(), whole.size());
  batch = ReadParsedLog({file.path(), batch->end_offset(), kComplete, kNow}, **parser);
  ASSERT_EQ(batch->records_size(), 1) << "the last line has no end";
  EXPECT_EQ(batch->records(0).metrics().step(), 3);
}

TEST(TelemetryTailTest, WindowsLineEndsAreNoEmptyLines) {
  const GrowingFile file;
  file.Append(
      "[rank0]: iter 1: loss 4.2, time 10.0ms, mfu 1.0%\r\n0: iter 3: loss 4.0, time 10.0ms, "
      "mfu 1.0%\r\n");
  v1::LogParserSpec spec;
  spec.set_kind(v1::LOG_PARSER_KIND_NANOGPT);
  const auto parser = MakeLogParser(spec, 1);
  ASSERT_TRUE(parser.ok());
  const absl::StatusOr<v1::TelemetryBatch> batch =
      ReadParsedLog({file.path(), 0, kGrowing, kNow}, **parser);
  ASSERT_TRUE(batch.ok()) << batch.status();
  ASSERT_EQ(batch->records_size(), 2);
  EXPECT_EQ(batch->records(1).metrics().step(), 3);
}

TEST(TelemetryTailTest, TheFirstBadLineIsKeptWithTheReason) {
  const GrowingFile file;
  const std::string line =
      "{\"type\": \"metrics\", \"time_ms\": \"2026-01-01T00:00:00Z\", \"step\": 1, \"loss\": 4.99}";
  file.Append(line + "\nnonsense\n");
  const absl::StatusOr<v1::TelemetryBatch> batch = ReadTelemetry({file.path(), 0, kGrowing, kNow});
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->bad_lines(), 2);
  EXPECT_EQ(batch->bad_line(), "`time_ms` is not a number of at least 0: " + line);
  const GrowingFile long_line;
  long_line.Append(std::string(kMaxLineBytes + 1, 'x') + "\n");
  EXPECT_EQ(ReadTelemetry({long_line.path(), 0, kGrowing, kNow})->bad_line(),
            "a line is longer than 65536 bytes");
}

}  // namespace
}  // namespace trainyard::worker
