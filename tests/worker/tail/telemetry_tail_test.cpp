#include "worker/tail/telemetry_tail.h"

#include "gtest/gtest.h"
#include "tests/worker/tail/growing_file.h"

namespace trainyard::worker {
namespace {

constexpr Timestamp kNow = 1700000000000;
// Values of the flag that states whether the file is complete. A last line without a line end is
// read only if the file is complete.
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

}  // namespace
}  // namespace trainyard::worker
