#include "trainer/telemetry/telemetry_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "proto/contract/telemetry_keys.h"

namespace trainyard::trainer {
namespace {

constexpr std::size_t kWaitingBytesMax = 1 << 20;

int64_t NowMs() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[32];  // The shortest text that reads back as the same double has at most 24 characters.
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

// Quotes and escapes a text. Bytes that are not UTF-8 become U+FFFD, so that the line is valid
// JSON.
std::string Text(std::string_view value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Field(std::string_view key, const std::string& json_value) {
  return "," + Text(key) + ":" + json_value;
}

std::string Hex(const std::vector<std::uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

// Converts the numbers to float, which shortens their text. Returns "" for an empty array.
std::string ArrayField(std::string_view key, const std::vector<double>& values) {
  if (values.empty()) return "";
  std::string text;
  for (const double value : values) {
    char digits[32];
    const std::to_chars_result end =
        std::to_chars(digits, digits + sizeof(digits), static_cast<float>(value));
    text += (text.empty() ? "" : ",") + std::string(digits, end.ptr);
  }
  return Field(key, "[" + text + "]");
}

}  // namespace

TelemetryWriter::TelemetryWriter(const std::string& path) : TelemetryWriter(path, NowMs) {}

TelemetryWriter::TelemetryWriter(const std::string& path, ClockMs clock)
    : path_(path), clock_(std::move(clock)) {
  if (path_.empty()) return;
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) Warn(std::string("cannot open it: ") + std::strerror(errno), warned_);
}

TelemetryWriter::~TelemetryWriter() {
  if (file_ < 0) return;
  Flush();
  close(file_);
}

void TelemetryWriter::WriteMetrics(int64_t step, int64_t total_steps, const MetricValues& values,
                                   std::string_view samples) {
  std::string fields = Field(telemetry::kStep, std::to_string(step));
  if (total_steps > 0) fields += Field(telemetry::kTotalSteps, std::to_string(total_steps));
  if (!samples.empty()) fields += Field(telemetry::kSamples, Text(samples));
  for (const auto& [name, value] : values) fields += Field(name, Number(value));
  Append(telemetry::kMetrics, fields);
}

void TelemetryWriter::WritePhase(Phase phase, int64_t step) {
  Append(telemetry::kPhase, Field(telemetry::kPhase, Text(PhaseName(phase))) +
                                Field(telemetry::kStep, std::to_string(step)));
}

void TelemetryWriter::WriteCheckpoint(const CheckpointRecord& record) {
  std::string fields = Field(telemetry::kStep, std::to_string(record.step)) +
                       Field(telemetry::kAttempt, std::to_string(record.attempt)) +
                       Field(telemetry::kPath, Text(record.path)) +
                       Field(telemetry::kBytes, std::to_string(record.bytes)) +
                       Field(telemetry::kBlockingSeconds, Number(record.blocking_seconds)) +
                       Field(telemetry::kTotalSeconds, Number(record.total_seconds));
  if (record.deleted) fields += Field(telemetry::kDeleted, "true");
  if (!record.metric.empty()) {
    fields += Field(telemetry::kMetric, Text(record.metric)) +
              Field(telemetry::kMetricValue, Number(record.metric_value));
  }
  Append(telemetry::kCheckpoint, fields);
}

void TelemetryWriter::WriteEvaluation(int64_t step, std::string_view data_set, double loss,
                                      int64_t tokens) {
  Append(telemetry::kEval, Field(telemetry::kStep, std::to_string(step)) +
                               Field(telemetry::kDataSet, Text(data_set)) +
                               Field(telemetry::kLoss, Number(loss)) +
                               Field(telemetry::kTokens, std::to_string(tokens)));
}

void TelemetryWriter::WriteAlert(int64_t step, std::string_view code, std::string_view message,
                                 std::string_view samples) {
  std::string fields = Field(telemetry::kStep, std::to_string(step)) +
                       Field(telemetry::kCode, Text(code)) +
                       Field(telemetry::kMessage, Text(message));
  if (!samples.empty()) fields += Field(telemetry::kSamples, Text(samples));
  Append(telemetry::kAlert, fields);
}

void TelemetryWriter::WriteRank(const RankRecord& record) {
  std::string fields = Field(telemetry::kStep, std::to_string(record.step)) +
                       Field(telemetry::kStepSeconds, Number(record.step_seconds)) +
                       Field(telemetry::kMemoryBytes, std::to_string(record.memory_bytes)) +
                       Field(telemetry::kInitSeconds, Number(record.init_seconds)) +
                       Field(telemetry::kLoadSeconds, Number(record.load_seconds)) +
                       Field(telemetry::kDataStallSeconds, Number(record.data_stall_seconds)) +
                       Field(telemetry::kCheckpointSeconds, Number(record.checkpoint_seconds)) +
                       Field(telemetry::kEvaluationSeconds, Number(record.evaluation_seconds));
  if (record.generation > 1) {
    fields += Field(telemetry::kGeneration, std::to_string(record.generation));
  }
  for (const auto& [name, seconds] : record.step_times) fields += Field(name, Number(seconds));
  Append(telemetry::kRank, fields);
}

void TelemetryWriter::WriteFlight(const FlightReport& report) {
  std::string fields = Field(telemetry::kGroup, Text(report.group)) +
                       Field(telemetry::kRanks, Text(report.ranks)) +
                       Field(telemetry::kSequence, std::to_string(report.sequence));
  if (!report.operation.empty()) fields += Field(telemetry::kOperation, Text(report.operation));
  Append(telemetry::kFlight, fields + Field(telemetry::kBytes, std::to_string(report.bytes)) +
                                 Field(telemetry::kQueuedMs, std::to_string(report.queued_ms)) +
                                 Field(telemetry::kEnteredMs, std::to_string(report.entered_ms)));
}

void TelemetryWriter::WriteExperts(const ExpertsReport& report) {
  std::string fields = Field(telemetry::kStep, std::to_string(report.step)) +
                       Field(telemetry::kFirstLayer, std::to_string(report.first_layer)) +
                       Field(telemetry::kExpertCount, std::to_string(report.experts)) +
                       Field(telemetry::kTopk, std::to_string(report.topk));
  if (!report.load.empty()) fields += Field(telemetry::kExpertLoad, Text(Hex(report.load)));
  Append(telemetry::kExperts, fields + ArrayField(telemetry::kBalance, report.balance) +
                                  ArrayField(telemetry::kAuxLoss, report.aux_loss) +
                                  ArrayField(telemetry::kEntropy, report.entropy) +
                                  ArrayField(telemetry::kDropped, report.dropped));
}

void TelemetryWriter::WriteDataReport(std::string_view text) {
  Append(telemetry::kDataReport, Field(telemetry::kNumber, "1") + Field(telemetry::kPart, "1") +
                                     Field(telemetry::kParts, "1") +
                                     Field(telemetry::kText, Text(text)));
}

void TelemetryWriter::WriteRest(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause(100);
  const auto end = std::chrono::steady_clock::now() + patience;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_ < 0) return;
  for (Flush(); !waiting_.empty() && std::chrono::steady_clock::now() < end; Flush()) {
    std::this_thread::sleep_for(kPause);
  }
}

void TelemetryWriter::Append(std::string_view type, const std::string& fields) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_ < 0) return;
  const std::string line = "{" + Text(telemetry::kType) + ":" + Text(type) +
                           Field(telemetry::kTimeMs, std::to_string(clock_())) + fields + "}\n";
  if (waiting_.size() + line.size() <= kWaitingBytesMax) {
    waiting_ += line;
  } else {
    Warn("the file could not be written for too long, so some metrics will be missing",
         warned_of_loss_);
  }
  Flush();
}

void TelemetryWriter::Flush() {
  while (!waiting_.empty()) {
    const ssize_t written = write(file_, waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return Warn(std::string("cannot write it: ") + std::strerror(errno), warned_);
    }
    waiting_.erase(0, static_cast<std::size_t>(written));
  }
}

void TelemetryWriter::Warn(const std::string& what, bool& warned) {
  if (warned) return;
  warned = true;
  std::fprintf(stderr, "warning: telemetry file %s: %s; training continues\n", path_.c_str(),
               what.c_str());
}

}  // namespace trainyard::trainer
