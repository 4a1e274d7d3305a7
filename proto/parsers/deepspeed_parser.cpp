#include "proto/parsers/deepspeed_parser.h"

#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;
using re2::StringPiece;

std::optional<v1::MetricsRecord> RecordAt(StringPiece step) {
  const std::optional<int64_t> completed = ToStep(step);
  if (!completed.has_value()) return std::nullopt;
  v1::MetricsRecord record;
  record.set_step(*completed);
  return record;
}

void SetNumber(v1::MetricsRecord& record, const char* name, StringPiece text, double factor = 1) {
  if (const std::optional<double> number = ToNumber(text)) {
    SetValue(record, name, *number * factor);
  }
}

// The line with the loss.
std::optional<v1::MetricsRecord> ParseLoss(const std::string& text) {
  static const RE2 kLine(R"(^\s*steps: (\d+) loss:\s*()" TRAINYARD_NUMBER
                         R"()(?:\s*iter time \(s\):\s*()" TRAINYARD_NUMBER
                         R"())?(?:\s*samples/sec:\s*()" TRAINYARD_NUMBER R"())?)");
  StringPiece step;
  StringPiece loss;
  StringPiece seconds;
  StringPiece samples;
  if (!RE2::PartialMatch(text, kLine, &step, &loss, &seconds, &samples)) return std::nullopt;
  std::optional<v1::MetricsRecord> record = RecordAt(step);
  if (!record.has_value()) return std::nullopt;
  SetNumber(*record, telemetry::kLoss, loss);
  SetNumber(*record, telemetry::kStepSeconds, seconds);
  SetNumber(*record, telemetry::kSamplesPerSecond, samples);
  return Finish(*std::move(record));
}

// The line with the learning rates of the groups. The first one is shown.
std::optional<v1::MetricsRecord> ParseRate(const std::string& text) {
  static const RE2 kLine(R"(\bstep=(\d+), skipped=(\d+), lr=\[()" TRAINYARD_NUMBER R"())");
  StringPiece step;
  StringPiece skipped;
  StringPiece rate;
  if (!RE2::PartialMatch(text, kLine, &step, &skipped, &rate)) return std::nullopt;
  std::optional<v1::MetricsRecord> record = RecordAt(step);
  if (!record.has_value()) return std::nullopt;
  SetNumber(*record, telemetry::kLearningRate, rate);
  SetNumber(*record, telemetry::kSkippedSteps, skipped);
  return Finish(*std::move(record));
}

// The line with the throughput and the memory.
std::optional<v1::MetricsRecord> ParseThroughput(const std::string& text) {
  static const RE2 kLine(R"(/global_step=(\d+), RunningAvgSamplesPerSec=)" TRAINYARD_NUMBER
                         R"(, CurrSamplesPerSec=()" TRAINYARD_NUMBER
                         R"()(?:.*MaxMemAllocated=()" TRAINYARD_NUMBER R"()GB)?)");
  constexpr double kGibibyte = 1 << 30;
  StringPiece step;
  StringPiece samples;
  StringPiece memory;
  if (!RE2::PartialMatch(text, kLine, &step, &samples, &memory)) return std::nullopt;
  std::optional<v1::MetricsRecord> record = RecordAt(step);
  if (!record.has_value()) return std::nullopt;
  SetNumber(*record, telemetry::kSamplesPerSecond, samples);
  SetNumber(*record, telemetry::kMemoryBytes, memory, kGibibyte);
  return Finish(*std::move(record));
}

}  // namespace

bool DeepSpeedParser::MayHoldRecord(std::string_view line) const {
  return line.find("step") != std::string_view::npos;
}

std::optional<v1::MetricsRecord> DeepSpeedParser::ParseText(const std::string& text,
                                                            LineContext& /*context*/) const {
  if (std::optional<v1::MetricsRecord> record = ParseLoss(text)) return record;
  if (std::optional<v1::MetricsRecord> record = ParseRate(text)) return record;
  return ParseThroughput(text);
}

}  // namespace trainyard
