#include "data/documents/json_line.h"

#include <simdjson.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

static_assert(kBlockPadding >= simdjson::SIMDJSON_PADDING);

// The parser needs up to 14 times the size of the longest line. It is freed after a longer one.
constexpr size_t kKeptLineBytes = size_t{4} << 20;

LineText Bad(BadLineKind kind, std::string cause) {
  LineText result;
  result.bad = BadLine{0, kind, std::move(cause)};
  return result;
}

// Returns the four hexadecimal digits after "\u" at `at`; nullopt if there is no such escape.
std::optional<uint32_t> EscapeAt(std::string_view line, size_t at) {
  if (at + 6 > line.size() || line[at] != '\\' || line[at + 1] != 'u') return std::nullopt;
  uint32_t value = 0;
  for (const char digit : line.substr(at + 2, 4)) {
    const char lower = static_cast<char>(digit | 0x20);
    if (digit >= '0' && digit <= '9') {
      value = value * 16 + static_cast<uint32_t>(digit - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

// True if an escape encodes half of a UTF-16 surrogate pair without the other half.
bool HasLoneSurrogate(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    if (line[at] != '\\') {
      ++at;
      continue;
    }
    const std::optional<uint32_t> first = EscapeAt(line, at);
    at += first ? 6 : 2;
    if (!first || *first < 0xD800 || *first > 0xDFFF) continue;
    const std::optional<uint32_t> second = EscapeAt(line, at);
    if (*first >= 0xDC00 || !second || *second < 0xDC00 || *second > 0xDFFF) return true;
    at += 6;
  }
  return false;
}

// True if the line has NaN or Infinity outside of strings, as Python's json module writes them.
bool HasNonFiniteNumber(std::string_view line) {
  bool in_string = false;
  for (size_t at = 0; at < line.size(); ++at) {
    if (in_string && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      in_string = !in_string;
    } else if (!in_string && (line.substr(at, 3) == "NaN" || line.substr(at, 8) == "Infinity")) {
      return true;
    }
  }
  return false;
}

// Returns the advice for common mistakes, or "".
std::string AdviceFor(std::string_view line) {
  if (HasNonFiniteNumber(line)) return "; NaN and Infinity are not JSON, so write null instead";
  const size_t first = line.find_first_not_of(" \t\r");
  const size_t last = line.find_last_not_of(" \t\r");
  const bool is_bracket = first == last && (line[first] == '{' || line[first] == '[');
  if (!is_bracket) return "";
  return "; the value continues on the next line, so write one object per line, for example with "
         "`jq -c .`";
}

LineText BadJson(std::string_view line, simdjson::error_code error) {
  if (error == simdjson::UTF8_ERROR) {
    const size_t offset = FirstInvalidUtf8(line).value_or(0);
    return Bad(BadLineKind::kNotUtf8, "not UTF-8 at byte " + std::to_string(offset) +
                                          " of the line; pass --utf8 replace to replace such "
                                          "bytes by U+FFFD");
  }
  if (error == simdjson::STRING_ERROR && HasLoneSurrogate(line)) {
    return Bad(BadLineKind::kLoneSurrogate,
               "a \\u escape is half of a surrogate pair, which no UTF-8 text can contain");
  }
  return Bad(BadLineKind::kNotJson,
             std::string("not valid JSON: ") + simdjson::error_message(error) + AdviceFor(line));
}

LineText Missing(const std::string& field) {
  return Bad(
      BadLineKind::kFieldMissing,
      "no field \"" + field + "\"; pass the name of the field that contains the text with --field");
}

LineText NotObject() { return Bad(BadLineKind::kNotJson, "not a JSON object"); }

LineText Twice(const std::string& field) {
  return Bad(BadLineKind::kFieldTwice, "field \"" + field + "\" occurs twice");
}

LineText NotString(const std::string& field, bool is_null) {
  if (is_null) return Bad(BadLineKind::kFieldNull, "field \"" + field + "\" is null");
  return Bad(BadLineKind::kFieldNotString, "field \"" + field + "\" is not a string");
}

JsonType TypeOf(const simdjson::dom::element& value) {
  switch (value.type()) {
    case simdjson::dom::element_type::STRING:
      return JsonType::kString;
    case simdjson::dom::element_type::BOOL:
      return JsonType::kBoolean;
    case simdjson::dom::element_type::NULL_VALUE:
      return JsonType::kNull;
    case simdjson::dom::element_type::ARRAY:
      return JsonType::kArray;
    case simdjson::dom::element_type::OBJECT:
      return JsonType::kObject;
    default:
      return JsonType::kNumber;
  }
}

JsonType TypeOf(const nlohmann::json& value) {
  if (value.is_string()) return JsonType::kString;
  if (value.is_boolean()) return JsonType::kBoolean;
  if (value.is_null()) return JsonType::kNull;
  if (value.is_array()) return JsonType::kArray;
  return value.is_object() ? JsonType::kObject : JsonType::kNumber;
}

}  // namespace

struct JsonLineParser::Parser {
  simdjson::dom::parser dom;
};

JsonLineParser::JsonLineParser(const std::string& field)
    : field_(field), parser_(std::make_unique<Parser>()) {}

JsonLineParser::~JsonLineParser() = default;

// Uses simdjson's document object model. Its on-demand interface would accept errors in the values
// that it skips, and in Debian's package only the former selects the instructions of the processor
// at run time.
LineText JsonLineParser::Parse(std::string_view line) {
  if (parser_->dom.capacity() > kKeptLineBytes) parser_->dom = simdjson::dom::parser();
  simdjson::dom::element root;
  const simdjson::error_code error = parser_->dom.parse(line.data(), line.size(), false).get(root);
  if (error == simdjson::NUMBER_ERROR) return ParseLargeNumbers(line);
  if (error != simdjson::SUCCESS) return BadJson(line, error);
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return NotObject();
  if (take_field_) {
    for (const auto& [key, value] : object) take_field_(key, TypeOf(value));
  }
  bool found = false;
  simdjson::dom::element text;
  for (const auto& [key, value] : object) {
    if (key != field_) continue;
    if (found) return Twice(field_);
    found = true;
    text = value;
  }
  if (!found) return Missing(field_);
  LineText result;
  if (text.get(result.text) != simdjson::SUCCESS) return NotString(field_, text.is_null());
  return result;
}

// simdjson refuses integers of more than 64 bits, which other programs write.
LineText JsonLineParser::ParseLargeNumbers(std::string_view line) {
  int found = 0;
  const auto count = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    found += depth == 1 && event == nlohmann::json::parse_event_t::key && value == field_ ? 1 : 0;
    return true;
  };
  nlohmann::json object = nlohmann::json::parse(line, count, false);
  // nlohmann-json takes a NUL byte for the end of the input.
  const bool has_nul = line.find('\0') != std::string_view::npos;
  if (object.is_discarded() || has_nul) return BadJson(line, simdjson::NUMBER_ERROR);
  if (!object.is_object()) return NotObject();
  if (take_field_) {
    for (const auto& [key, value] : object.items()) take_field_(key, TypeOf(value));
  }
  if (found > 1) return Twice(field_);
  const auto value = object.find(field_);
  if (value == object.end()) return Missing(field_);
  if (!value->is_string()) return NotString(field_, value->is_null());
  copy_ = std::move(value->get_ref<std::string&>());
  LineText result;
  result.text = copy_;
  return result;
}

}  // namespace trainyard::data
