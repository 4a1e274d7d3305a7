#include "controller/store/logs/line_matcher.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "controller/core/verdict/line_level.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kMaxPatternMemory = int64_t{1} << 20;

std::unique_ptr<RE2> PatternOf(const LogQuery& query) {
  RE2::Options options(RE2::Quiet);
  options.set_case_sensitive(!query.ignore_case);
  options.set_literal(!query.regex);
  options.set_max_mem(kMaxPatternMemory);
  return std::make_unique<RE2>(query.grep, options);
}

// Does the same as std::string_view::find, several times as fast.
std::size_t Find(std::string_view text, std::string_view wanted) {
  if (wanted.empty()) return 0;
  const void* found = memmem(text.data(), text.size(), wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<const char*>(found) - text.data();
}

std::size_t FindPattern(const RE2& pattern, std::string_view text) {
  re2::StringPiece match;
  const re2::StringPiece searched(text.data(), text.size());
  const bool found = pattern.Match(searched, 0, searched.size(), RE2::UNANCHORED, &match, 1);
  return found ? match.data() - text.data() : std::string_view::npos;
}

}  // namespace

LineMatcher::LineMatcher(const LogQuery& query) : min_level_(query.min_level) {
  if (query.grep.empty()) return;
  crosses_lines_ = !query.regex;
  if (query.regex || query.ignore_case) {
    pattern_ = PatternOf(query);
  } else {
    text_ = query.grep;
  }
}

std::size_t LineMatcher::FirstCandidate(std::string_view bytes) const {
  if (!crosses_lines_) return 0;
  return pattern_ == nullptr ? Find(bytes, text_) : FindPattern(*pattern_, bytes);
}

bool LineMatcher::ContainsText(std::string_view line) const {
  if (pattern_ != nullptr) {
    return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern_);
  }
  return Find(line, text_) != std::string_view::npos;
}

bool LineMatcher::Matches(std::string_view line) const {
  if (!ContainsText(line)) return false;
  return min_level_ == v1::LOG_LEVEL_UNSPECIFIED || LevelOf(line) >= min_level_;
}

absl::Status CheckPattern(const LogQuery& query) {
  if (!query.regex || query.grep.empty()) return absl::OkStatus();
  const std::unique_ptr<RE2> pattern = PatternOf(query);
  if (pattern->ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("grep: not a valid regular expression: ", pattern->error(),
                   "; see https://github.com/google/re2/wiki/Syntax"));
}

}  // namespace trainyard::controller
