#include "worker/tail/telemetry_tail.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/parsers/output_parser.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "worker/tail/file_tail.h"
#include "worker/tail/launcher_line.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

bool IsBlank(const std::string& line) {
  return std::all_of(line.begin(), line.end(),
                     [](unsigned char byte) { return std::isspace(byte) != 0; });
}

absl::StatusOr<TailLines> ReadLines(const TailPosition& position, LineReadOptions options) {
  options.ended = position.ended;
  options.until_offset = position.until_offset;
  return ReadNewLines(position.path, position.offset, options);
}

// Counts an unreadable line. Keeps the first such line with the reason.
void AddBadLine(const std::string& line, const absl::Status& status, v1::TelemetryBatch& batch) {
  constexpr std::size_t kShownBytes = 200;
  batch.set_bad_lines(batch.bad_lines() + 1);
  if (!batch.bad_line().empty()) return;
  batch.set_bad_line(absl::StrCat(std::string(status.message()), ": ",
                                  std::string(Utf8Prefix(ReplaceInvalidUtf8(line), kShownBytes))));
}

v1::TelemetryBatch EmptyBatch(const TailLines& lines) {
  v1::TelemetryBatch batch;
  batch.set_begin_offset(lines.begin_offset);
  batch.set_end_offset(lines.end_offset);
  batch.set_bad_lines(lines.bad_lines);
  if (lines.bad_lines > 0) {
    batch.set_bad_line(absl::StrCat("a line is longer than ", kMaxLineBytes, " bytes"));
  }
  return batch;
}

// Returns the context of the lines before the position. Empty if these lines cannot be read.
LineContext ContextOf(const TailPosition& position, const LogParser& parser) {
  LineContext context;
  if (!parser.NeedsContext() || position.offset == 0) return context;
  TailPosition before = position;
  before.offset = std::max<int64_t>(0, position.offset - kContextBytes);
  before.until_offset = position.offset;
  const absl::StatusOr<TailLines> lines =
      ReadLines(before, {.long_lines = LongLines::kSplit, .returns_end_lines = true});
  if (!lines.ok()) return context;
  for (const std::string& line : lines->lines) parser.Parse(line, context);
  return context;
}

// Merges the metrics into the batch's last record if both belong to the same step.
bool MergeIntoLast(const LogParser& parser, const v1::MetricsRecord& metrics,
                   v1::TelemetryBatch& batch) {
  return !batch.records().empty() && batch.records().rbegin()->has_metrics() &&
         MergeSameStep(parser, metrics, *batch.mutable_records()->rbegin()->mutable_metrics());
}

// Returns false if the line is not a launcher's report about its ranks.
bool AddAlertOfLauncher(const std::string& line, const LogParser& parser, Timestamp now,
                        v1::TelemetryBatch& batch) {
  const std::optional<int> first_rank = parser.first_rank_of_launcher();
  if (!first_rank.has_value()) return false;
  std::optional<v1::AlertRecord> alert = AlertOfLauncher(line, *first_rank);
  if (!alert.has_value()) return false;
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(now);
  *record.mutable_alert() = *std::move(alert);
  return true;
}

}  // namespace

absl::StatusOr<v1::TelemetryBatch> ReadTelemetry(const TailPosition& position) {
  TRAINYARD_ASSIGN_OR_RETURN(const TailLines lines,
                             ReadLines(position, {.long_lines = LongLines::kSkip}));
  v1::TelemetryBatch batch = EmptyBatch(lines);
  for (const std::string& line : lines.lines) {
    if (IsBlank(line)) continue;
    absl::StatusOr<v1::TelemetryRecord> record = ParseTelemetryLine(line);
    if (!record.ok()) {
      AddBadLine(line, record.status(), batch);
      continue;
    }
    if (record->time_ms() == 0) record->set_time_ms(position.now);
    *batch.add_records() = *std::move(record);
  }
  return batch;
}

absl::StatusOr<v1::TelemetryBatch> ReadParsedLog(const TailPosition& position,
                                                 const LogParser& parser) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const TailLines lines,
      ReadLines(position, {.long_lines = LongLines::kSplit, .returns_end_lines = true}));
  v1::TelemetryBatch batch = EmptyBatch(lines);
  if (lines.lines.empty()) return batch;
  LineContext context = ContextOf(position, parser);
  for (const std::string& line : lines.lines) {
    if (AddAlertOfLauncher(line, parser, position.now, batch)) continue;
    std::optional<v1::MetricsRecord> metrics = parser.Parse(line, context);
    if (!metrics.has_value()) continue;
    if (MergeIntoLast(parser, *metrics, batch)) continue;
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(position.now);
    *record.mutable_metrics() = *std::move(metrics);
  }
  return batch;
}

}  // namespace trainyard::worker
