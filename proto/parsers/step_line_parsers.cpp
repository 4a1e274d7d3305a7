#include "proto/parsers/step_line_parsers.h"

#include <map>
#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;
using re2::StringPiece;

void SetMatch(v1::MetricsRecord& record, const char* name, StringPiece text, const RE2& pattern,
              double factor = 1) {
  StringPiece value;
  if (!RE2::PartialMatch(text, pattern, &value)) return;
  if (const std::optional<double> number = ToNumber(value)) {
    SetValue(record, name, *number * factor);
  }
}

// The loss on the validation set has a line of its own, without the step.
std::optional<v1::MetricsRecord> ParseValidation(const std::string& text,
                                                 const LineContext& context) {
  static const RE2 kLine(R"(^\s*val loss ()" TRAINYARD_NUMBER R"()\s*$)");
  StringPiece loss;
  if (context.step < 0 || !RE2::PartialMatch(text, kLine, &loss)) return std::nullopt;
  v1::MetricsRecord record;
  record.set_step(context.step);
  record.set_total_steps(context.total_steps);
  if (const std::optional<double> number = ToNumber(loss)) {
    SetEvaluationLoss(record, "val", *number);
  }
  return Finish(std::move(record));
}

void SetNanochatField(v1::MetricsRecord& record, const std::string& name, double value,
                      StringPiece unit) {
  constexpr double kMillisecond = 1e-3;
  if (name == "dt" && unit == "ms") {
    SetValue(record, telemetry::kStepSeconds, value * kMillisecond);
  } else if (name == "mfu") {
    SetValue(record, telemetry::kMfu, value / 100);
  } else if (name == "tok/sec") {
    SetValue(record, telemetry::kTokensPerSecond, value);
  } else if (name != "total_time" && name != "eta") {
    SetValue(record, name, value);
  }
}

}  // namespace

bool LlmCParser::MayHoldRecord(std::string_view line) const {
  return line.find("loss ") != std::string_view::npos;
}

std::optional<v1::MetricsRecord> LlmCParser::ParseText(const std::string& text,
                                                       LineContext& context) const {
  static const RE2 kStep(R"(^\s*step\s+(\d+)/(\d+)\s*\|(.*))");
  static const RE2 kLoss(R"(\bloss ()" TRAINYARD_NUMBER R"())");
  static const RE2 kNorm(R"(\bnorm ()" TRAINYARD_NUMBER R"())");
  static const RE2 kRate(R"(\blr ()" TRAINYARD_NUMBER R"())");
  static const RE2 kTime(R"(()" TRAINYARD_NUMBER R"() ms\b)");
  static const RE2 kMfu(R"(()" TRAINYARD_NUMBER R"()% \S+ MFU)");
  static const RE2 kTokens(R"(()" TRAINYARD_NUMBER R"() tok/s)");
  StringPiece step;
  StringPiece total;
  StringPiece rest;
  if (!RE2::PartialMatch(text, kStep, &step, &total, &rest)) return ParseValidation(text, context);
  const std::optional<int64_t> completed = ToStep(step);
  if (!completed.has_value()) return std::nullopt;
  context.step = *completed;
  context.total_steps = ToStep(total).value_or(0);
  v1::MetricsRecord record;
  record.set_step(*completed);
  record.set_total_steps(context.total_steps);
  SetMatch(record, telemetry::kLoss, rest, kLoss);
  SetMatch(record, telemetry::kGradNorm, rest, kNorm);
  SetMatch(record, telemetry::kLearningRate, rest, kRate);
  SetMatch(record, telemetry::kStepSeconds, rest, kTime, 1e-3);
  SetMatch(record, telemetry::kMfu, rest, kMfu, 1e-2);
  SetMatch(record, telemetry::kTokensPerSecond, rest, kTokens);
  return Finish(std::move(record));
}

bool NanochatParser::MayHoldRecord(std::string_view line) const {
  return line.find("tep ") != std::string_view::npos;
}

std::optional<v1::MetricsRecord> NanochatParser::ParseText(const std::string& text,
                                                           LineContext& /*context*/) const {
  static const RE2 kStep(R"(^\s*step (\d+)(?:/(\d+))?[^|]*\|(.*))");
  static const RE2 kValidation(R"(^\s*Step (\d+) \| Validation bpb: ()" TRAINYARD_NUMBER R"())");
  static const RE2 kField(R"(([A-Za-z][A-Za-z/ ]*):\s*()" TRAINYARD_NUMBER
                          R"()(ms|m|%)?\s*(?:\||$))");
  v1::MetricsRecord record;
  StringPiece step;
  StringPiece total;
  StringPiece rest;
  StringPiece value;
  if (RE2::PartialMatch(text, kValidation, &step, &value)) {
    record.set_step(ToStep(step).value_or(0));
    SetValue(record, "val_bpb", ToNumber(value).value_or(0));
    return Finish(std::move(record));
  }
  if (!RE2::PartialMatch(text, kStep, &step, &total, &rest)) return std::nullopt;
  const std::optional<int64_t> completed = ToStep(step);
  if (!completed.has_value()) return std::nullopt;
  record.set_step(*completed);
  record.set_total_steps(ToStep(total).value_or(0));
  StringPiece name;
  StringPiece unit;
  while (RE2::FindAndConsume(&rest, kField, &name, &value, &unit)) {
    if (const std::optional<double> number = ToNumber(value)) {
      SetNanochatField(record, MetricName(name), *number, unit);
    }
  }
  return Finish(std::move(record));
}

}  // namespace trainyard
