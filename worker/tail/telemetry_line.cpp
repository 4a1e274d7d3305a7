#include "worker/tail/telemetry_line.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/contract/limits.h"
#include "proto/contract/phase.h"
#include "proto/contract/rank_set.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "proto/text/utf8.h"
#include "worker/tail/data_report_line.h"
#include "worker/tail/environment_line.h"
#include "worker/tail/experts_line.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {
namespace {

// Returns the time of the record in milliseconds; 0 if the time is absent. Fractions are cut off.
// Many programs write seconds, so a number that would be before 1973 in milliseconds is taken as
// seconds.
absl::StatusOr<int64_t> TimeMs(const TelemetryValues& values) {
  constexpr double kEarliestSeconds = 1e9;  // The year 2001, in seconds.
  constexpr double kEarliestMs = 1e11;      // The year 1973, in milliseconds.
  constexpr double kLatestMs = 1e15;
  const auto found = values.find(telemetry::kTimeMs);
  if (found == values.end()) return 0;
  const double time = NumberOf(found->second).value_or(-1);
  if (!(time >= 0 && time <= kLatestMs))
    return Missing(telemetry::kTimeMs, "a number of at least 0");
  const bool is_seconds = time >= kEarliestSeconds && time < kEarliestMs;
  return static_cast<int64_t>(is_seconds ? time * 1000 : time);
}

absl::StatusOr<double> Number(const TelemetryValues& values, const char* key,
                              std::optional<double> fallback = std::nullopt) {
  const auto found = values.find(key);
  if (found == values.end() && fallback.has_value()) return *fallback;
  const std::optional<double> number =
      found == values.end() ? std::nullopt : NumberOf(found->second);
  if (!number.has_value()) return Missing(key, "a number");
  return *number;
}

absl::StatusOr<std::string> Text(const TelemetryValues& values, const char* key) {
  const auto found = values.find(key);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (text == nullptr || text->empty()) return Missing(key, "a text");
  return std::string(Utf8Prefix(*text, kMaxTelemetryTextBytes));
}

bool IsMetricName(const std::string& name) {
  if (name.empty()) return false;
  for (const char byte : name) {
    if (std::iscntrl(static_cast<unsigned char>(byte))) return false;
  }
  return true;
}

// Reads the optional range "a:b" in `samples`. Ignores any other text. Ignores a number too,
// because a number is a metric named `samples`.
template <typename Record>
void ReadSamples(const TelemetryValues& values, Record& record) {
  const auto found = values.find(telemetry::kSamples);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (text == nullptr) return;
  const std::vector<std::string> ends = absl::StrSplit(*text, ':');
  int64_t begin = 0, end = 0;
  const bool is_range =
      ends.size() == 2 && absl::SimpleAtoi(ends[0], &begin) && absl::SimpleAtoi(ends[1], &end);
  if (!is_range || begin < 0 || end <= begin) return;
  record.mutable_samples()->set_begin(begin);
  record.mutable_samples()->set_end(end);
}

absl::Status ReadMetrics(const TelemetryValues& values, v1::MetricsRecord& record) {
  static const std::set<std::string> kNotMetrics = {telemetry::kType, telemetry::kTimeMs,
                                                    telemetry::kStep, telemetry::kTotalSteps};
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t total_steps, Step(values, telemetry::kTotalSteps, 0));
  record.set_step(step);
  record.set_total_steps(total_steps);
  ReadSamples(values, record);
  for (const auto& [name, value] : values) {
    const std::optional<double> number = NumberOf(value);
    if (!number.has_value() || kNotMetrics.count(name) > 0 || !IsMetricName(name)) continue;
    (*record.mutable_values())[name] = *number;
  }
  return absl::OkStatus();
}

absl::Status ReadPhase(const TelemetryValues& values, v1::PhaseRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string phase, Text(values, telemetry::kPhase));
  if (!PhaseOf(phase).has_value()) {
    return Missing(telemetry::kPhase,
                   "one of init, load, train, checkpoint, eval, done, or a phase of data jobs");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep, 0));
  record.set_phase(phase);
  record.set_step(step);
  return absl::OkStatus();
}

// Reads the metric by which checkpoints are compared. The metric's two keys must both be present or
// both be absent.
absl::Status ReadCheckpointMetric(const TelemetryValues& values, v1::CheckpointRecord& record) {
  if (values.count(telemetry::kMetric) == 0) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const std::string metric, Text(values, telemetry::kMetric));
  TRAINYARD_ASSIGN_OR_RETURN(const double value, Number(values, telemetry::kMetricValue));
  if (metric.size() > kMaxTelemetryKeyBytes || !IsMetricName(metric)) {
    return Missing(telemetry::kMetric, "a short name");
  }
  record.set_metric(metric);
  record.set_metric_value(value);
  return absl::OkStatus();
}

absl::Status ReadCheckpoint(const TelemetryValues& values, v1::CheckpointRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep));
  const auto deleted = values.find(telemetry::kDeleted);
  const bool* flag = deleted == values.end() ? nullptr : std::get_if<bool>(&deleted->second);
  if (deleted != values.end() && flag == nullptr)
    return Missing(telemetry::kDeleted, "true or false");
  record.set_deleted(flag != nullptr && *flag);
  // The record of a deleted checkpoint needs no path.
  const bool needs_path = !record.deleted() || values.count(telemetry::kPath) > 0;
  if (needs_path) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string path, Text(values, telemetry::kPath));
    record.set_path(path);
  }
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t bytes, Count(values, telemetry::kBytes, 0));
  const char* attempt_key =
      values.count(telemetry::kAttempt) > 0 ? telemetry::kAttempt : telemetry::kFormerAttempt;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t attempt_number, Count(values, attempt_key, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double blocking, Number(values, telemetry::kBlockingSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double total, Number(values, telemetry::kTotalSeconds, 0));
  record.set_step(step);
  record.set_bytes(bytes);
  record.set_attempt(attempt_number);
  record.set_blocking_seconds(blocking);
  record.set_total_seconds(total);
  return ReadCheckpointMetric(values, record);
}

absl::Status ReadEvaluation(const TelemetryValues& values, v1::EvaluationRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep));
  TRAINYARD_ASSIGN_OR_RETURN(std::string data_set, Text(values, telemetry::kDataSet));
  TRAINYARD_ASSIGN_OR_RETURN(const double loss, Number(values, telemetry::kLoss));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t tokens, Count(values, telemetry::kTokens, 0));
  // The name of the data set becomes part of a metric name.
  if (data_set.size() > kMaxTelemetryKeyBytes || !IsMetricName(data_set)) {
    return Missing(telemetry::kDataSet, "a short name");
  }
  record.set_step(step);
  record.set_data_set(std::move(data_set));
  record.set_loss(loss);
  record.set_tokens(tokens);
  return absl::OkStatus();
}

absl::Status ReadAlert(const TelemetryValues& values, v1::AlertRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(std::string code, Text(values, telemetry::kCode));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep, 0));
  if (values.count(telemetry::kMessage) > 0) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string message, Text(values, telemetry::kMessage));
    record.set_message(std::move(message));
  }
  record.set_code(std::move(code));
  record.set_step(step);
  ReadSamples(values, record);
  return absl::OkStatus();
}

// Reads the parts of a step's time. All keys are optional.
absl::Status ReadStepTime(const TelemetryValues& values, v1::StepTime& time) {
  using Set = void (v1::StepTime::*)(double);
  static constexpr std::pair<const char*, Set> kParts[] = {
      {telemetry::kComputeSeconds, &v1::StepTime::set_compute},
      {telemetry::kInputWaitSeconds, &v1::StepTime::set_input_wait},
      {telemetry::kTensorWaitSeconds, &v1::StepTime::set_tp_wait},
      {telemetry::kContextWaitSeconds, &v1::StepTime::set_cp_wait},
      {telemetry::kExpertWaitSeconds, &v1::StepTime::set_ep_wait},
      {telemetry::kPipelineWaitSeconds, &v1::StepTime::set_pp_wait},
      {telemetry::kDataWaitSeconds, &v1::StepTime::set_dp_wait},
      {telemetry::kWorldWaitSeconds, &v1::StepTime::set_world_wait},
      {telemetry::kOptimizerSeconds, &v1::StepTime::set_optimizer},
      {telemetry::kCheckpointWaitSeconds, &v1::StepTime::set_checkpoint_wait}};
  for (const auto& [key, set] : kParts) {
    TRAINYARD_ASSIGN_OR_RETURN(const double seconds, Number(values, key, 0));
    (time.*set)(seconds);
  }
  return absl::OkStatus();
}

absl::Status ReadRank(const TelemetryValues& values, v1::RankRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t step, Step(values, telemetry::kStep));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t memory, Count(values, telemetry::kMemoryBytes, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double step_seconds, Number(values, telemetry::kStepSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double init, Number(values, telemetry::kInitSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double load, Number(values, telemetry::kLoadSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double stall, Number(values, telemetry::kDataStallSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double checkpoint,
                             Number(values, telemetry::kCheckpointSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const double evaluation,
                             Number(values, telemetry::kEvaluationSeconds, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t generation, Count(values, telemetry::kGeneration, 0));
  record.set_step(step);
  record.set_generation(generation);
  record.set_memory_bytes(memory);
  record.set_step_seconds(step_seconds);
  record.set_init_seconds(init);
  record.set_load_seconds(load);
  record.set_data_stall_seconds(stall);
  record.set_checkpoint_seconds(checkpoint);
  record.set_evaluation_seconds(evaluation);
  if (values.count(telemetry::kComputeSeconds) == 0) return absl::OkStatus();
  return ReadStepTime(values, *record.mutable_step_time());
}

absl::Status ReadFlight(const TelemetryValues& values, v1::FlightRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(std::string group, Text(values, telemetry::kGroup));
  TRAINYARD_ASSIGN_OR_RETURN(std::string ranks, Text(values, telemetry::kRanks));
  if (!ParseRankSet(ranks).has_value()) {
    return Missing(telemetry::kRanks, "a set of ranks such as \"0-3\" or \"0-12/4\"");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t sequence, Count(values, telemetry::kSequence));
  if (values.count(telemetry::kOperation) > 0) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string operation, Text(values, telemetry::kOperation));
    record.set_operation(std::move(operation));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t bytes, Count(values, telemetry::kBytes, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t queued, Count(values, telemetry::kQueuedMs, 0));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t entered, Count(values, telemetry::kEnteredMs, 0));
  record.set_group(std::move(group));
  record.set_ranks(std::move(ranks));
  record.set_sequence(sequence);
  record.set_bytes(bytes);
  record.set_queued_ms(queued);
  record.set_entered_ms(entered);
  return absl::OkStatus();
}

absl::Status ReadKind(const std::string& type, const TelemetryValues& values,
                      v1::TelemetryRecord& record) {
  if (type == telemetry::kMetrics) return ReadMetrics(values, *record.mutable_metrics());
  if (type == telemetry::kPhase) return ReadPhase(values, *record.mutable_phase());
  if (type == telemetry::kCheckpoint) return ReadCheckpoint(values, *record.mutable_checkpoint());
  if (type == telemetry::kEval) return ReadEvaluation(values, *record.mutable_evaluation());
  if (type == telemetry::kAlert) return ReadAlert(values, *record.mutable_alert());
  if (type == telemetry::kRank) return ReadRank(values, *record.mutable_rank());
  if (type == telemetry::kFlight) return ReadFlight(values, *record.mutable_flight());
  if (type == telemetry::kExperts) return ReadExperts(values, *record.mutable_experts());
  if (type == telemetry::kDataReport) return ReadDataReport(values, *record.mutable_data_report());
  if (type == telemetry::kEnvironment)
    return ReadEnvironment(values, *record.mutable_environment());
  return Missing(telemetry::kType,
                 "one of metrics, phase, checkpoint, eval, alert, rank, flight, experts, "
                 "data_report, environment");
}

}  // namespace

absl::StatusOr<v1::TelemetryRecord> ParseTelemetryLine(std::string_view line) {
  TRAINYARD_ASSIGN_OR_RETURN(const TelemetryValues values, ReadValues(line));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string type, Text(values, telemetry::kType));
  v1::TelemetryRecord record;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t time_ms, TimeMs(values));
  record.set_time_ms(time_ms);
  TRAINYARD_RETURN_IF_ERROR(ReadKind(type, values, record));
  return record;
}

}  // namespace trainyard::worker
