#include "proto/parsers/log_fields.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard {

using re2::StringPiece;

std::optional<double> ToNumber(StringPiece text) {
  double number = 0;
  // Commas occur only between digit groups, so they can be removed. "nan" and "inf" are valid,
  // because a diverged run prints such values.
  if (!absl::SimpleAtod(
          absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{",", ""}}), &number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> ToStep(StringPiece text) {
  int64_t step = 0;
  if (!absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &step) || step < 0 ||
      step > kMaxStep) {
    return std::nullopt;
  }
  return step;
}

std::string MetricName(StringPiece text) {
  std::string name;
  for (const char byte : text) {
    const auto letter = static_cast<unsigned char>(byte);
    const bool kept = letter < 0x80 && (std::isalnum(letter) != 0 || byte == '/' || byte == '.' ||
                                        byte == '-' || byte == '_');
    if (kept) {
      name += static_cast<char>(std::tolower(letter));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.substr(0, kMaxTelemetryKeyBytes);
}

std::optional<v1::MetricsRecord> Finish(v1::MetricsRecord record) {
  if (record.values().empty()) return std::nullopt;
  return record;
}

void SetValue(v1::MetricsRecord& record, const std::string& name, double value) {
  if (name.empty()) return;
  if (static_cast<std::size_t>(record.values_size()) >= kMaxTelemetryKeys) return;
  (*record.mutable_values())[name] = value;
}

void SetEvaluationLoss(v1::MetricsRecord& record, const std::string& set, double loss) {
  constexpr std::size_t kMaxNameBytes = kMaxTelemetryKeyBytes - sizeof("_perplexity");
  const std::string name = MetricName(set).substr(0, kMaxNameBytes);
  if (name.empty()) return;
  const std::string key = telemetry::EvaluationLoss(name);
  SetValue(record, key, loss);
  const auto& sets = record.evaluation_sets();
  const bool is_known = std::find(sets.begin(), sets.end(), name) != sets.end();
  if (record.values().contains(key) && !is_known) record.add_evaluation_sets(name);
}

}  // namespace trainyard
