#include "proto/code/ignore_rules.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace trainyard::code {
namespace {

constexpr std::size_t kNone = absl::string_view::npos;

// Removes trailing blanks, unless they are escaped.
absl::string_view WithoutTrailingBlanks(absl::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) {
    std::size_t backslashes = 0;
    while (backslashes + 1 < line.size() && line[line.size() - 2 - backslashes] == '\\') {
      ++backslashes;
    }
    if (backslashes % 2 == 1) break;
    line.remove_suffix(1);
  }
  return line;
}

// Matches `c` against the set at `position` of the pattern, "[a-z]". On success sets `end` to the
// position after the set. Without a closing bracket, "[" is an ordinary character: `end` is kNone.
bool MatchesSet(absl::string_view pattern, std::size_t position, char c, std::size_t& end) {
  std::size_t at = position + 1;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool matched = false;
  const auto value = static_cast<unsigned char>(c);
  for (bool first = true; at < pattern.size() && (first || pattern[at] != ']'); first = false) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    const auto low = static_cast<unsigned char>(pattern[at++]);
    auto high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      ++at;
      if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
      high = static_cast<unsigned char>(pattern[at++]);
    }
    matched = matched || (low <= value && value <= high);
  }
  end = at < pattern.size() ? at + 1 : kNone;
  return matched != negated;
}

// Matches one character other than `*`. Returns the position after the pattern's character, or
// kNone if it does not match.
std::size_t MatchOne(absl::string_view pattern, std::size_t position, char c) {
  const char wanted = pattern[position];
  if (wanted == '?') return position + 1;
  if (wanted == '[') {
    std::size_t end = kNone;
    const bool matches = MatchesSet(pattern, position, c, end);
    if (end != kNone) return matches ? end : kNone;
  }
  if (wanted == '\\' && position + 1 < pattern.size()) {
    return pattern[position + 1] == c ? position + 2 : kNone;
  }
  return wanted == c ? position + 1 : kNone;
}

// Matches the components of a path. "**" stands for any number of components, but at the end of a
// pattern for at least one.
bool MatchesParts(const std::vector<std::string>& pattern,
                  const std::vector<absl::string_view>& path) {
  std::size_t at = 0;
  std::size_t part = 0;
  std::size_t retry_at = kNone;
  std::size_t retry_part = 0;
  while (part < path.size()) {
    if (at < pattern.size() && pattern[at] == "**") {
      if (at + 1 == pattern.size()) return true;
      retry_at = ++at;
      retry_part = part;
    } else if (at < pattern.size() && MatchesName(pattern[at], path[part])) {
      ++at;
      ++part;
    } else if (retry_at != kNone) {
      at = retry_at;
      part = ++retry_part;
    } else {
      return false;
    }
  }
  return at == pattern.size();
}

}  // namespace

bool MatchesName(absl::string_view pattern, absl::string_view name) {
  std::size_t at = 0;
  std::size_t position = 0;
  // Position to continue at if the characters after the newest `*` do not match.
  std::size_t retry_at = kNone;
  std::size_t retry_position = 0;
  while (position < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      retry_at = ++at;
      retry_position = position;
      continue;
    }
    const std::size_t next = at < pattern.size() ? MatchOne(pattern, at, name[position]) : kNone;
    if (next != kNone) {
      at = next;
      ++position;
    } else if (retry_at != kNone) {
      at = retry_at;
      position = ++retry_position;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::optional<IgnoreRules::Rule> IgnoreRules::RuleOf(absl::string_view line,
                                                     absl::string_view directory) {
  line = WithoutTrailingBlanks(absl::StripSuffix(line, "\r"));
  if (line.empty() || line.front() == '#') return std::nullopt;
  Rule rule;
  rule.directory = std::string(directory);
  rule.negated = absl::ConsumePrefix(&line, "!");
  rule.directories_only = absl::ConsumeSuffix(&line, "/");
  rule.anchored = line.find('/') != kNone;
  line = absl::StripPrefix(line, "/");
  for (const absl::string_view part : absl::StrSplit(line, '/', absl::SkipEmpty())) {
    rule.parts.emplace_back(part);
  }
  if (rule.parts.empty()) return std::nullopt;
  return rule;
}

absl::Status IgnoreRules::Append(absl::string_view text, absl::string_view directory,
                                 absl::string_view origin) {
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.size() > kMaxPatternBytes) {
      return absl::InvalidArgumentError(absl::StrCat("a pattern in ", origin, " has ", line.size(),
                                                     " bytes, more than ", kMaxPatternBytes,
                                                     "; shorten it"));
    }
    std::optional<Rule> rule = RuleOf(line, directory);
    if (!rule.has_value()) continue;
    if (rules_.size() >= kMaxRules) {
      return absl::InvalidArgumentError(absl::StrCat("the ignore files have more than ", kMaxRules,
                                                     " patterns (at ", origin, "); remove some"));
    }
    rules_.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

bool IgnoreRules::Matches(const Rule& rule, absl::string_view path, bool is_directory) {
  if (rule.directories_only && !is_directory) return false;
  if (!rule.directory.empty()) {
    const bool below =
        absl::ConsumePrefix(&path, rule.directory) && absl::ConsumePrefix(&path, "/");
    if (!below) return false;
  }
  if (!rule.anchored) return MatchesName(rule.parts[0], path.substr(path.rfind('/') + 1));
  return MatchesParts(rule.parts, absl::StrSplit(path, '/'));
}

std::optional<bool> IgnoreRules::Decide(absl::string_view path, bool is_directory) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (Matches(*rule, path, is_directory)) return !rule->negated;
  }
  return std::nullopt;
}

}  // namespace trainyard::code
