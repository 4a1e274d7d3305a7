#include "data/pipeline/run_telemetry.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/report/run_text.h"
#include "proto/contract/data_report.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/files/durable_file.h"

namespace trainyard::data {
namespace {

constexpr int64_t kPeriodMs = 1000;

int64_t PeakMemoryBytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

}  // namespace

RunTelemetry::RunTelemetry(const std::string& path, std::function<int64_t()> now_ms)
    : now_ms_(std::move(now_ms)), written_ms_(now_ms_()) {
  if (!path.empty()) {
    file_.Reset(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
}

void RunTelemetry::EnterPhase(Phase phase) {
  phase_ = phase;
  const nlohmann::ordered_json fields = {{telemetry::kPhase, PhaseName(phase)},
                                         {telemetry::kStep, steps()}};
  Write(telemetry::kPhase, fields.dump());
}

bool RunTelemetry::Advance(int64_t bytes) {
  bytes_ += bytes;
  const int64_t now = now_ms_();
  if (now - written_ms_ < kPeriodMs) return false;
  const int64_t done = std::max<int64_t>(steps() - written_steps_, 1);
  const nlohmann::ordered_json fields = {
      {telemetry::kStep, steps()},
      {telemetry::kStepSeconds,
       static_cast<double>(now - written_ms_) / 1000 / static_cast<double>(done)},
      {telemetry::kMemoryBytes, PeakMemoryBytes()}};
  Write(telemetry::kRank, fields.dump());
  written_ms_ = now;
  written_steps_ = steps();
  return true;
}

void RunTelemetry::WriteMetrics(const PassProgress& progress) {
  const double rate = static_cast<double>(progress.bytes) / std::max(progress.seconds, 0.001);
  const int64_t left = std::max<int64_t>(progress.total_bytes - progress.bytes, 0);
  const bool is_pass = progress.documents.has_value();
  // The steps of a run count only the input of passes.
  const int64_t last_byte = bytes_ + (is_pass ? left : 0);
  nlohmann::ordered_json fields = {{telemetry::kStep, std::max<int64_t>(steps(), 1)},
                                   {telemetry::kTotalSteps, std::max<int64_t>(last_byte >> 20, 1)},
                                   {telemetry::kPipelineStep, progress.step},
                                   {telemetry::kPipelineSteps, progress.steps},
                                   {telemetry::kBytes, progress.bytes},
                                   {telemetry::kBytesPerSecond, rate}};
  if (rate > 0 && progress.total_bytes > 0) {
    fields[telemetry::kEtaSeconds] = static_cast<double>(left) / rate;
  }
  if (is_pass) {
    fields[telemetry::kDocuments] = progress.documents->read;
    fields[telemetry::kDroppedDocuments] = progress.documents->dropped;
    if (progress.documents->tokens > 0) fields[telemetry::kTokens] = progress.documents->tokens;
  }
  if (progress.slowest) {
    fields[telemetry::kSlowestBlock] = progress.slowest->number;
    fields[telemetry::kSlowestBlockSeconds] = progress.slowest->seconds;
    fields[telemetry::kSlowestBlockRank] = progress.slowest->rank;
  }
  Write(telemetry::kMetrics, fields.dump());
}

void RunTelemetry::WriteReport(std::string_view report) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = report; !rest.empty();) {
    parts.push_back(BeginOfText(rest, kMaxDataReportPartBytes));
    rest.remove_prefix(parts.back().size());
  }
  ++reports_;
  for (size_t i = 0; i < parts.size(); ++i) {
    const nlohmann::ordered_json fields = {{telemetry::kNumber, reports_},
                                           {telemetry::kPart, i + 1},
                                           {telemetry::kParts, parts.size()},
                                           {telemetry::kText, parts[i]}};
    Write(telemetry::kDataReport, fields.dump());
  }
}

// Appends a whole line by one call, so that a crash leaves at most one torn line.
void RunTelemetry::Write(const std::string& type, const std::string& fields) {
  if (!file_.valid()) return;
  nlohmann::ordered_json head = {{telemetry::kType, type}, {telemetry::kTimeMs, now_ms_()}};
  std::string line = head.dump();
  line.back() = ',';
  (void)WriteAll(file_.get(), line + fields.substr(1) + "\n", "telemetry");
}

}  // namespace trainyard::data
