#include "proto/parsers/log_fields.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard {

using re2::StringPiece;

namespace {

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// True for the texts of TRAINYARD_NUMBER, as far as ToNumber does not refuse them.
bool IsNumber(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const absl::string_view word(text.data(), text.size());
  if (absl::EqualsIgnoreCase(word, "nan") || absl::EqualsIgnoreCase(word, "inf")) return true;
  if (text.empty()) return false;
  const bool is_fraction = text[0] == '.' && text.size() > 1;
  if (is_fraction) return std::all_of(text.begin() + 1, text.end(), IsDigit);
  return IsDigit(text[0]) && text.find_first_not_of("0123456789,.eE+-") == std::string_view::npos;
}

}  // namespace

std::optional<double> ToNumber(StringPiece text) {
  double number = 0;
  const absl::string_view digits(text.data(), text.size());
  if (digits.find(',') == absl::string_view::npos) {
    return absl::SimpleAtod(digits, &number) ? std::optional<double>(number) : std::nullopt;
  }
  // Commas occur only between digit groups, so they can be removed. "nan" and "inf" are valid,
  // because a diverged run prints such values.
  if (!absl::SimpleAtod(absl::StrReplaceAll(digits, {{",", ""}}), &number)) {
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

std::optional<NamedNumber> ReadNamedNumber(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\f\r";
  const auto trim_end = [&](std::string_view part) {
    return part.substr(0, part.find_last_not_of(kBlanks) + 1);
  };
  text = trim_end(text);
  const std::size_t separator = text.find_last_of(": \t\n\f\r");
  if (separator == std::string_view::npos || !IsNumber(text.substr(separator + 1))) {
    return std::nullopt;
  }
  std::string_view name = trim_end(text.substr(0, separator + 1));
  const bool has_colon = !name.empty() && name.back() == ':';
  if (has_colon) name.remove_suffix(1);
  // Only the text after an earlier colon is the name.
  name.remove_prefix(name.rfind(':') + 1);
  if (name.empty() || kBlanks.find(name.back()) != std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(separator + 1);
  const std::optional<double> value = ToNumber(StringPiece(number.data(), number.size()));
  if (!value.has_value()) return std::nullopt;
  return NamedNumber{name, *value};
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
