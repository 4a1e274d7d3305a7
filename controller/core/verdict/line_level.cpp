#include "controller/core/verdict/line_level.h"

#include <string>

#include "controller/core/verdict/error_kind.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kSearchedBytes = 1000;

// "E1128 12:00:00" and "[W1128 12:00:00" are the formats of glog and PyTorch. The trainer prints
// "FAILED".
bool StatesError(const std::string& line) {
  static const RE2 kForms(
      R"(\b(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|FAILED)\b|Traceback \(most recent call last\)|)"
      R"((?:^|\[)[EF]\d{4} |Segmentation fault|\bCUDA error\b|)"
      R"((?i:\b"?level"?\s*[=:]\s*"?(?:error|fatal|critical|panic)\b))");
  return RE2::PartialMatch(line, kForms) || KindOfLine(line) != ErrorKind::kNone;
}

bool StatesWarning(const std::string& line) {
  static const RE2 kForms(
      R"(\b(?:WARN|WARNING)\b|(?:^|\[)W\d{4} |\b[A-Z]\w*Warning:|)"
      R"((?i:^(?:\[[^\]]*\]:? ?)?warning:|\b"?level"?\s*[=:]\s*"?warn(?:ing)?\b))");
  return RE2::PartialMatch(line, kForms);
}

// Removes the color codes of terminals. The letter at the end of a code would otherwise become part
// of the next word.
std::string WithoutColors(std::string_view text) {
  static const RE2 kCode(R"(\x1b\[[0-9;]*m)");
  std::string plain(text);
  if (plain.find('\x1b') != std::string::npos) RE2::GlobalReplace(&plain, kCode, "");
  return plain;
}

}  // namespace

v1::LogLevel LevelOf(std::string_view line) {
  const std::string text = WithoutColors(line.substr(0, kSearchedBytes));
  if (StatesError(text)) return v1::LOG_LEVEL_ERROR;
  return StatesWarning(text) ? v1::LOG_LEVEL_WARNING : v1::LOG_LEVEL_UNSPECIFIED;
}

}  // namespace trainyard::controller
