#include "worker/tail/checkpoint_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/files/durable_file.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

std::string LineOf(const nlohmann::json& object) {
  // A path may contain bytes that are not UTF-8.
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Returns the number as text. JSON has no numbers that are not finite, but ReadValues accepts them.
std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return absl::StrFormat("%.9g", value);
}

// Returns {"type": TYPE, "time_ms": TIME, "step": STEP without its end.
std::string LineStart(const char* type, Timestamp time_ms, int64_t step) {
  return absl::StrCat("{\"", telemetry::kType, "\":\"", type, "\",\"", telemetry::kTimeMs,
                      "\":", time_ms, ",\"", telemetry::kStep, "\":", step);
}

bool EndsInsideALine(int fd) {
  struct stat info {};
  char last = '\n';
  return fstat(fd, &info) == 0 && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) == 1 &&
         last != '\n';
}

}  // namespace

std::string CheckpointLine(const v1::CheckpointRecord& record, Timestamp time_ms) {
  nlohmann::json object = {{telemetry::kType, telemetry::kCheckpoint},
                           {telemetry::kTimeMs, time_ms},
                           {telemetry::kStep, record.step()},
                           {telemetry::kPath, record.path()},
                           {telemetry::kAttempt, record.attempt()}};
  if (record.deleted()) {
    object[telemetry::kDeleted] = true;
  } else {
    object[telemetry::kBytes] = record.bytes();
  }
  return LineOf(object);
}

std::string AlertLine(const v1::AlertRecord& record, Timestamp time_ms) {
  return LineOf({{telemetry::kType, telemetry::kAlert},
                 {telemetry::kTimeMs, time_ms},
                 {telemetry::kStep, record.step()},
                 {telemetry::kCode, record.code()},
                 {telemetry::kMessage, record.message()}});
}

std::string MetricsLines(const v1::MetricsRecord& record, Timestamp time_ms) {
  std::map<std::string, double> metrics(record.values().begin(), record.values().end());
  std::string lines;
  for (const std::string& set : record.evaluation_sets()) {
    const auto loss = metrics.find(telemetry::EvaluationLoss(set));
    if (loss == metrics.end()) continue;
    absl::StrAppend(&lines, LineStart(telemetry::kEval, time_ms, record.step()), ",\"",
                    telemetry::kDataSet, "\":", nlohmann::json(set).dump(), ",\"", telemetry::kLoss,
                    "\":", NumberText(loss->second), "}\n");
    metrics.erase(loss);
  }
  if (metrics.empty()) return lines;
  absl::StrAppend(&lines, LineStart(telemetry::kMetrics, time_ms, record.step()));
  for (const auto& [name, value] : metrics) {
    absl::StrAppend(&lines, ",", nlohmann::json(name).dump(), ":", NumberText(value));
  }
  return lines + "}\n";
}

absl::Status AppendTelemetry(const GuardedPath& path, const std::string& lines, bool ended) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenGuarded(path, O_RDWR | O_APPEND));
  const bool is_inside = EndsInsideALine(fd.get());
  if (is_inside && !ended) {
    return absl::UnavailableError(absl::StrCat(path.text(), " ends inside a line"));
  }
  const FileResult written =
      WriteAll(fd.get(), is_inside ? absl::StrCat("\n", lines) : lines, path.text());
  return ToStatus(written);
}

}  // namespace trainyard::worker
