#include "worker/tail/telemetry_values.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/contract/limits.h"

namespace trainyard::worker {
namespace {

using Json = nlohmann::json;
using Value = TelemetryValue;

// Texts that replace special numbers in the line. Each begins with a character that JSON text can
// contain only as the escape \u0001. A user's string with this escape at its beginning could be
// mistaken for a special number, but no known name contains the escape.
constexpr char kMarkedNan[] = "\"\\u0001nan\"";
constexpr char kMarkedInfinity[] = "\"\\u0001inf\"";
constexpr char kMarkedMinusInfinity[] = "\"\\u0001-inf\"";

std::optional<double> MarkedNumber(const std::string& text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "\x01nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "\x01inf") return kInfinity;
  if (text == "\x01-inf") return -kInfinity;
  return std::nullopt;
}

// Replaces NaN, Infinity and -Infinity, which Python's json writes although JSON does not allow
// them. Leaves strings unchanged.
std::string MarkSpecialNumbers(std::string_view line) {
  static constexpr std::pair<std::string_view, std::string_view> kTokens[] = {
      {"NaN", kMarkedNan}, {"-Infinity", kMarkedMinusInfinity}, {"Infinity", kMarkedInfinity}};
  std::string text;
  text.reserve(line.size());
  bool in_string = false;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t taken = 1;
    std::string_view replacement = line.substr(i, 1);
    if (in_string && line[i] == '\\') {
      replacement = line.substr(i, 2);
      taken = replacement.size();
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const auto& [token, mark] : kTokens) {
        if (line.substr(i, token.size()) != token) continue;
        replacement = mark;
        taken = token.size();
        break;
      }
    }
    text += replacement;
    i += taken;
  }
  return text;
}

// Receives the tokens of a line and keeps the values of the outermost object. At the first token
// that exceeds a limit, stops the parser and sets `error`.
class LineReader : public nlohmann::json_sax<Json> {
 public:
  TelemetryValues values;
  std::string error;

  bool null() override { return Outermost() ? Fits() : true; }
  bool boolean(bool value) override { return Keep(value); }
  bool number_integer(int64_t value) override { return Keep(value); }
  bool number_unsigned(uint64_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Keep(static_cast<double>(value));
    }
    return Keep(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return Keep(value); }
  bool string(std::string& value) override {
    if (const std::optional<double> number = MarkedNumber(value)) return Keep(*number);
    return Keep(std::move(value));
  }
  bool binary(Json::binary_t&) override { return Refuse("binary value"); }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return Refuse("not a JSON object");
    if (depth_ == 1) array_ = &values.insert_or_assign(key_, std::vector<double>()).first->second;
    return Enter();
  }
  bool end_array() override {
    if (depth_ == 2) array_ = nullptr;
    return Leave();
  }
  bool key(std::string& name) override {
    if (name.size() > kMaxTelemetryKeyBytes) {
      return Refuse(absl::StrCat("a key has more than ", kMaxTelemetryKeyBytes, " bytes"));
    }
    if (++keys_ > kMaxTelemetryKeys) {
      return Refuse(absl::StrCat("more than ", kMaxTelemetryKeys, " keys"));
    }
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& cause) override {
    if (cause.id == 406) return Refuse("a number is out of range");  // nlohmann: number overflow.
    return Refuse(absl::StrCat("not JSON, near byte ", position));
  }

 private:
  bool Outermost() const { return depth_ <= 1; }

  bool Fits() { return depth_ == 0 ? Refuse("not a JSON object") : true; }

  template <typename Kept>
  bool Keep(Kept value) {
    if constexpr (std::is_same_v<Kept, double> || std::is_same_v<Kept, int64_t>) {
      if (array_ != nullptr && depth_ == 2) {
        std::get<std::vector<double>>(*array_).push_back(static_cast<double>(value));
      }
    }
    if (!Outermost()) return true;
    if (!Fits()) return false;
    // If a key occurs twice, the last value is used, as in Python.
    values.insert_or_assign(key_, Value(std::move(value)));
    return true;
  }

  bool Enter() {
    if (++depth_ <= kMaxTelemetryDepth) return true;
    return Refuse(absl::StrCat("nested more than ", kMaxTelemetryDepth, " levels deep"));
  }

  bool Leave() {
    --depth_;
    return true;
  }

  bool Refuse(std::string cause) {
    if (error.empty()) error = std::move(cause);
    return false;
  }

  int depth_ = 0;
  std::size_t keys_ = 0;
  std::string key_;
  Value* array_ = nullptr;  // The array of the outermost object that is being read.
};

}  // namespace

absl::StatusOr<TelemetryValues> ReadValues(std::string_view line) {
  LineReader reader;
  if (!Json::sax_parse(MarkSpecialNumbers(line), &reader)) {
    return absl::InvalidArgumentError(reader.error);
  }
  return std::move(reader.values);
}
absl::Status Missing(const char* key, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat("`", key, "` is not ", expected));
}

std::optional<double> NumberOf(const TelemetryValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

absl::StatusOr<int64_t> Count(const TelemetryValues& values, const char* key,
                              std::optional<int64_t> fallback) {
  const auto found = values.find(key);
  if (found == values.end() && fallback.has_value()) return *fallback;
  if (found == values.end()) return Missing(key, "there");
  if (const auto* whole = std::get_if<int64_t>(&found->second); whole != nullptr && *whole >= 0) {
    return *whole;
  }
  // The limit is 2^53, because a double cannot represent every larger integer.
  const auto* real = std::get_if<double>(&found->second);
  if (real != nullptr && *real >= 0 && *real <= 9007199254740992.0 && std::floor(*real) == *real) {
    return static_cast<int64_t>(*real);
  }
  return Missing(key, "a whole number of at least 0");
}

absl::StatusOr<int64_t> Step(const TelemetryValues& values, const char* key,
                             std::optional<int64_t> fallback) {
  const absl::StatusOr<int64_t> step = Count(values, key, fallback);
  if (!step.ok() || *step <= kMaxStep) return step;
  return absl::InvalidArgumentError(
      absl::StrCat("`", key, "` is ", *step, "; at most ", kMaxStep, " is accepted"));
}

}  // namespace trainyard::worker
