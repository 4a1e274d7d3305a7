#include "proto/jobspec/fields/scalar_text.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/duration.pb.h"
#include "proto/json/enum_text.h"
#include "trainyard/v1/log_parser_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;

struct Suffix {
  const char* text;
  __int128 factor;
};

constexpr Suffix kCountSuffixes[] = {
    {"K", 1000}, {"M", 1000000}, {"B", 1000000000}, {"T", 1000000000000}};
// Longer suffixes come first, so that "KiB" is found before "B".
constexpr Suffix kByteSuffixes[] = {{"KiB", 1LL << 10}, {"MiB", 1LL << 20},    {"GiB", 1LL << 30},
                                    {"TiB", 1LL << 40}, {"kB", 1000},          {"MB", 1000000},
                                    {"GB", 1000000000}, {"TB", 1000000000000}, {"B", 1}};

// If `text` ends with a suffix that the unit permits, removes the suffix and returns its factor.
__int128 TakeSuffix(std::string& text, v1::Unit unit) {
  const auto take = [&text](const auto& suffixes) -> __int128 {
    for (const Suffix& suffix : suffixes) {
      if (!absl::EndsWith(text, suffix.text)) continue;
      text.resize(text.size() - std::string(suffix.text).size());
      text = std::string(absl::StripAsciiWhitespace(text));
      return suffix.factor;
    }
    return 1;
  };
  if (unit == v1::UNIT_BYTES) return take(kByteSuffixes);
  if (unit == v1::UNIT_TOKENS || unit == v1::UNIT_STEPS || unit == v1::UNIT_SAMPLES) {
    return take(kCountSuffixes);
  }
  return 1;
}

// The decimal number digits * 10^exponent.
struct Decimal {
  bool negative = false;
  __int128 digits = 0;
  int exponent = 0;
};

// Enough digits for any 64-bit field, and few enough that __int128 does not overflow.
constexpr int kMaxDigits = 30;
constexpr int kMaxExponent = 24;

bool ParseDecimal(const std::string& text, Decimal& decimal) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) decimal.negative = text[i++] == '-';
  int digit_count = 0;
  bool seen_point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '_' && digit_count > 0) continue;
    if (c == '.' && !seen_point) {
      seen_point = true;
      continue;
    }
    if (!absl::ascii_isdigit(c)) break;
    if (++digit_count > kMaxDigits) return false;
    decimal.digits = decimal.digits * 10 + (c - '0');
    if (seen_point) --decimal.exponent;
  }
  if (digit_count == 0) return false;
  if (i == text.size()) return true;
  int exponent = 0;
  if ((text[i] != 'e' && text[i] != 'E') || !absl::SimpleAtoi(text.substr(i + 1), &exponent)) {
    return false;
  }
  decimal.exponent += exponent;
  return exponent >= -kMaxExponent && exponent <= kMaxExponent;
}

// Returns digits * 10^exponent * factor. Returns an error if the result is not an integer or does
// not fit.
absl::StatusOr<__int128> ExactInteger(Decimal decimal, __int128 factor) {
  const __int128 limit = std::numeric_limits<uint64_t>::max();
  __int128 value = decimal.digits;
  for (; decimal.exponent > 0; --decimal.exponent) {
    if (value > limit) return absl::InvalidArgumentError("is too large");
    value *= 10;
  }
  if (value > limit) return absl::InvalidArgumentError("is too large");
  value *= factor;
  for (; decimal.exponent < 0; ++decimal.exponent) {
    if (value % 10 != 0) return absl::InvalidArgumentError("must be a whole number");
    value /= 10;
  }
  if (value > limit) return absl::InvalidArgumentError("is too large");
  return decimal.negative ? -value : value;
}

std::string EnumChoices(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) names.push_back(EnumShortName(*type.value(i)));
  }
  return absl::StrJoin(names, ", ");
}

absl::Status SetInteger(const std::string& text, const FieldDescriptor& field,
                        google::protobuf::Message& message) {
  const absl::StatusOr<__int128> value = ParseInteger(text, RuleOf(field).unit());
  if (!value.ok()) return value.status();
  const auto& reflection = *message.GetReflection();
  const auto fits = [&](auto lowest, auto highest) {
    return *value >= lowest && *value <= highest;
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      if (!fits(INT32_MIN, INT32_MAX)) return absl::InvalidArgumentError("is too large");
      reflection.SetInt32(&message, &field, static_cast<int32_t>(*value));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT64:
      if (!fits(INT64_MIN, INT64_MAX)) return absl::InvalidArgumentError("is too large");
      reflection.SetInt64(&message, &field, static_cast<int64_t>(*value));
      return absl::OkStatus();
    default:
      if (!fits(0, UINT64_MAX)) return absl::InvalidArgumentError("must not be negative");
      reflection.SetUInt64(&message, &field, static_cast<uint64_t>(*value));
      return absl::OkStatus();
  }
}

absl::Status SetEnum(const std::string& text, const FieldDescriptor& field,
                     google::protobuf::Message& message) {
  const auto* value = EnumValueByShortName(*field.enum_type(), text);
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be one of ", EnumChoices(*field.enum_type())));
  }
  message.GetReflection()->SetEnum(&message, &field, value);
  return absl::OkStatus();
}

absl::Status SetDuration(const std::string& text, const FieldDescriptor& field,
                         google::protobuf::Message& message) {
  const absl::StatusOr<int64_t> ms = ParseDurationMs(text);
  if (!ms.ok()) return ms.status();
  auto* duration = static_cast<google::protobuf::Duration*>(
      message.GetReflection()->MutableMessage(&message, &field));
  duration->set_seconds(*ms / 1000);
  duration->set_nanos(static_cast<int32_t>(*ms % 1000) * 1000000);
  return absl::OkStatus();
}

// Returns the length of a unit of durations in milliseconds; 0 if the unit is unknown.
int64_t DurationUnitMs(const std::string& unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit == "m") return 60 * 1000;
  if (unit == "h") return 3600 * 1000;
  if (unit == "d") return 24 * 3600 * 1000;
  return 0;
}

}  // namespace

absl::StatusOr<__int128> ParseInteger(const std::string& text, v1::Unit unit) {
  std::string number = text;
  const __int128 factor = TakeSuffix(number, unit);
  Decimal decimal;
  if (!ParseDecimal(number, decimal)) {
    const char* forms = unit == v1::UNIT_BYTES ? "a number of bytes such as 64KiB"
                        : factor != 1 || unit == v1::UNIT_TOKENS
                            ? "a whole number such as 300, 1e6 or 20B"
                            : "a whole number";
    return absl::InvalidArgumentError(absl::StrCat("must be ", forms));
  }
  return ExactInteger(decimal, factor);
}

absl::StatusOr<double> ParseNumber(const std::string& text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
    return absl::InvalidArgumentError("must be a number such as 0.1 or 3e-4");
  }
  return value;
}

absl::StatusOr<int64_t> ParseDurationMs(const std::string& text) {
  if (text == "0") return 0;
  const absl::Status bad =
      absl::InvalidArgumentError("must be a duration with a unit, such as 30s, 5m, 1h30m or 2d");
  double total = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t number_end = text.find_first_not_of("0123456789.", i);
    if (number_end == i || number_end == std::string::npos) return bad;
    std::size_t unit_end = text.find_first_of("0123456789.", number_end);
    if (unit_end == std::string::npos) unit_end = text.size();
    double number = 0;
    const int64_t unit_ms = DurationUnitMs(text.substr(number_end, unit_end - number_end));
    if (unit_ms == 0 || !absl::SimpleAtod(text.substr(i, number_end - i), &number)) return bad;
    total += number * static_cast<double>(unit_ms);
    i = unit_end;
  }
  constexpr double kLongestMs = 1e15;  // 30,000 years: above any use, far below overflow.
  if (text.empty() || total > kLongestMs) return bad;
  return std::llround(total);
}

absl::Status SetScalarField(const std::string& text, const FieldDescriptor& field,
                            google::protobuf::Message& message) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, text);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") {
        return absl::InvalidArgumentError("must be true or false");
      }
      reflection.SetBool(&message, &field, text == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const absl::StatusOr<double> value = ParseNumber(text);
      if (!value.ok()) return value.status();
      reflection.SetDouble(&message, &field, *value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(text, field, message);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SetDuration(text, field, message);
    default:
      return SetInteger(text, field, message);
  }
}

const v1::FieldRule& RuleOf(const FieldDescriptor& field) {
  return field.options().GetExtension(v1::rule);
}

bool IsDuration(const FieldDescriptor& field) {
  return field.message_type() != nullptr &&
         field.message_type()->well_known_type() ==
             google::protobuf::Descriptor::WELLKNOWNTYPE_DURATION;
}

bool IsSection(const FieldDescriptor& field) {
  return field.message_type() != nullptr && !field.is_map() && !IsDuration(field);
}

const FieldDescriptor* ScalarKeyOf(const FieldDescriptor& field) {
  const auto* section = v1::LogParserSpec::descriptor();
  if (field.message_type() != section) return nullptr;
  return section->FindFieldByNumber(v1::LogParserSpec::kKindFieldNumber);
}

}  // namespace trainyard
