#include "proto/parsers/hugging_face_parser.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_replace.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using re2::RE2;
using re2::StringPiece;

// A progress bar without a description. Bars of other tasks have one, such as "Map: 10%|".
struct Bar {
  int64_t step = 0;
  int64_t total = 0;
  std::optional<double> step_seconds;
};

std::optional<double> SecondsOfStep(StringPiece rate, StringPiece unit) {
  const std::optional<double> number = ToNumber(rate);
  if (!number.has_value() || *number <= 0) return std::nullopt;
  return unit == "s/it" ? *number : 1 / *number;
}

// Removes the bar from the start of the text. In the output of two writers, other text may follow
// on the same line.
std::optional<Bar> TakeBar(StringPiece& text) {
  static const RE2 kBar(R"(\s*\d{1,3}%\|[^|]*\|\s*(\d+)/(\d+) \[([^\]]*)\])");
  static const RE2 kRate(R"(,\s*([0-9.]+)(it/s|s/it))");
  StringPiece step;
  StringPiece total;
  StringPiece times;
  if (!RE2::Consume(&text, kBar, &step, &total, &times)) return std::nullopt;
  const std::optional<int64_t> done = ToStep(step);
  const std::optional<int64_t> all = ToStep(total);
  if (!done.has_value() || !all.has_value() || *done > *all) return std::nullopt;
  Bar bar{*done, *all, std::nullopt};
  StringPiece rate;
  StringPiece unit;
  if (RE2::PartialMatch(times, kRate, &rate, &unit)) bar.step_seconds = SecondsOfStep(rate, unit);
  return bar;
}

// Returns the numbers of a dictionary of metrics with the names that the program uses. Empty if the
// text contains no such dictionary. The Trainer adds the epoch to all of its metrics.
std::map<std::string, double> ValuesIn(StringPiece text) {
  static const RE2 kDictionary(R"((\{['"][^{}]*\}))");
  static const RE2 kField(R"(['"]([^'"]{1,128})['"]:\s*(?:np\.\w+\()?['"]?()" TRAINYARD_NUMBER
                          R"()['"]?\)?\s*[,}])");
  std::map<std::string, double> values;
  StringPiece rest;
  if (!RE2::PartialMatch(text, kDictionary, &rest)) return values;
  StringPiece name;
  StringPiece value;
  while (RE2::FindAndConsume(&rest, kField, &name, &value)) {
    if (const auto number = ToNumber(value)) values[std::string(name)] = *number;
  }
  const bool is_of_trainer = values.contains("epoch") || values.contains("loss");
  return is_of_trainer ? values : std::map<std::string, double>{};
}

// Sets the metric with its well-known name, or with its own name. The losses on several evaluation
// sets are named eval_SET_loss.
void SetField(const std::string& name, double value, v1::MetricsRecord& record) {
  static const std::map<std::string, std::string> kKnown = {
      {"learning_rate", telemetry::kLearningRate},
      {"num_tokens", telemetry::kTokens},
      {"num_input_tokens_seen", telemetry::kTokens}};
  static const RE2 kEvaluation("eval_(.+)_loss");
  std::string set;
  if (const auto known = kKnown.find(name); known != kKnown.end()) {
    SetValue(record, known->second, value);
  } else if (name == "eval_loss") {
    SetEvaluationLoss(record, "val", value);
  } else if (RE2::FullMatch(name, kEvaluation, &set)) {
    SetEvaluationLoss(record, set, value);
  } else {
    SetValue(record, MetricName(name), value);
  }
}

// Updates the context. Returns the step as a record if the bar certainly counts training steps. An
// evaluation has a bar too, but with another total. Until the total of the training is known, the
// bar may belong to any task.
std::optional<v1::MetricsRecord> RecordOf(const Bar& bar, LineContext& context) {
  const bool is_training = context.total_steps > 0 && bar.total == context.total_steps;
  const bool is_nested = context.moves_up;
  if (is_nested || (context.total_steps > 0 && !is_training)) return std::nullopt;
  context.step = bar.step;
  context.bar_total = bar.total;
  if (!is_training || bar.step == 0) return std::nullopt;
  v1::MetricsRecord record;
  record.set_step(bar.step);
  record.set_total_steps(bar.total);
  if (bar.step_seconds.has_value()) SetValue(record, telemetry::kStepSeconds, *bar.step_seconds);
  return record;
}

// Returns the step of the metrics; -1 if the step is unknown. An evaluation before the training has
// a complete bar of its own.
int64_t StepOf(const std::map<std::string, double>& values, const LineContext& context) {
  if (const auto own = values.find(telemetry::kStep); own != values.end()) {
    return own->second >= 0 && own->second < 1e12 ? static_cast<int64_t>(own->second) : -1;
  }
  const bool is_known = context.total_steps > 0 || values.contains("loss");
  return !is_known && context.step == context.bar_total ? -1 : context.step;
}

std::optional<v1::MetricsRecord> RecordOf(const std::map<std::string, double>& values,
                                          LineContext& context) {
  if (values.contains("loss") && context.bar_total > 0) context.total_steps = context.bar_total;
  const int64_t step = StepOf(values, context);
  if (step < 0) return std::nullopt;
  v1::MetricsRecord record;
  record.set_step(step);
  record.set_total_steps(context.total_steps);
  for (const auto& [name, value] : values) {
    if (name != telemetry::kStep) SetField(name, value, record);
  }
  return Finish(std::move(record));
}

}  // namespace

bool HuggingFaceParser::MayHoldRecord(std::string_view line) const {
  return line.find('{') != std::string_view::npos || line.find("%|") != std::string_view::npos ||
         line.find("optimization") != std::string_view::npos;
}

std::optional<v1::MetricsRecord> HuggingFaceParser::ParseText(const std::string& text,
                                                              LineContext& context) const {
  static const RE2 kTotal(R"(Total optimization steps = ([\d,]+))");
  StringPiece rest(text);
  StringPiece total;
  if (RE2::PartialMatch(text, kTotal, &total)) {
    context.total_steps = ToStep(absl::StrReplaceAll(total.as_string(), {{",", ""}})).value_or(0);
    return std::nullopt;
  }
  std::optional<v1::MetricsRecord> record;
  if (const std::optional<Bar> bar = TakeBar(rest)) record = RecordOf(*bar, context);
  const std::map<std::string, double> values = ValuesIn(rest);
  return values.empty() ? record : RecordOf(values, context);
}

}  // namespace trainyard
