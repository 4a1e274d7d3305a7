#include "proto/jobspec/rules/failure_rule.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

v1::FailureAction ActionOf(std::string_view word) {
  if (word == "retry") return v1::FAILURE_ACTION_RETRY;
  if (word == "fail") return v1::FAILURE_ACTION_FAIL;
  if (word == "other_node") return v1::FAILURE_ACTION_OTHER_NODE;
  return v1::FAILURE_ACTION_UNSPECIFIED;
}

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

}  // namespace

absl::StatusOr<FailureRule> ParseFailureRule(std::string_view text) {
  constexpr std::string_view kArrow = " => ";
  FailureRule rule;
  const std::size_t arrow = text.rfind(kArrow);
  if (arrow != std::string_view::npos) {
    rule.message = Trimmed(text.substr(arrow + kArrow.size()));
    text = text.substr(0, arrow);
  }
  const std::string trimmed = Trimmed(text);
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(trimmed, absl::MaxSplits(' ', 1));
  rule.action = ActionOf(parts.first);
  if (rule.action == v1::FAILURE_ACTION_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it begins with \"", parts.first, "\"; write retry, fail or other_node, then a pattern"));
  }
  rule.pattern = Trimmed(parts.second);
  if (rule.pattern.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a pattern is missing after ", parts.first));
  }
  const RE2 pattern(rule.pattern, RE2::Quiet);
  if (!pattern.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("its pattern is not valid: ", pattern.error()));
  }
  return rule;
}

}  // namespace trainyard
