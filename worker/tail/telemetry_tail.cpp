#include "worker/tail/telemetry_tail.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "proto/support/status_macros.h"
#include "worker/tail/file_tail.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

bool IsBlank(const std::string& line) {
  return std::all_of(line.begin(), line.end(),
                     [](unsigned char byte) { return std::isspace(byte) != 0; });
}

absl::StatusOr<TailLines> ReadLines(const TailPosition& position, LongLines long_lines) {
  return ReadNewLines(
      position.path, position.offset,
      {.long_lines = long_lines, .ended = position.ended, .until_offset = position.until_offset});
}

v1::TelemetryBatch EmptyBatch(const TailLines& lines) {
  v1::TelemetryBatch batch;
  batch.set_begin_offset(lines.begin_offset);
  batch.set_end_offset(lines.end_offset);
  batch.set_bad_lines(lines.bad_lines);
  return batch;
}

}  // namespace

absl::StatusOr<v1::TelemetryBatch> ReadTelemetry(const TailPosition& position) {
  TRAINYARD_ASSIGN_OR_RETURN(const TailLines lines, ReadLines(position, LongLines::kSkip));
  v1::TelemetryBatch batch = EmptyBatch(lines);
  for (const std::string& line : lines.lines) {
    if (IsBlank(line)) continue;
    absl::StatusOr<v1::TelemetryRecord> record = ParseTelemetryLine(line);
    if (!record.ok()) {
      batch.set_bad_lines(batch.bad_lines() + 1);
      continue;
    }
    if (record->time_ms() == 0) record->set_time_ms(position.now);
    *batch.add_records() = *std::move(record);
  }
  return batch;
}

absl::StatusOr<v1::TelemetryBatch> ReadParsedLog(const TailPosition& position,
                                                 const LogParser& parser) {
  TRAINYARD_ASSIGN_OR_RETURN(const TailLines lines, ReadLines(position, LongLines::kSplit));
  v1::TelemetryBatch batch = EmptyBatch(lines);
  for (const std::string& line : lines.lines) {
    std::optional<v1::MetricsRecord> metrics = parser.Parse(line);
    if (!metrics.has_value()) continue;
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(position.now);
    *record.mutable_metrics() = *std::move(metrics);
  }
  return batch;
}

}  // namespace trainyard::worker
