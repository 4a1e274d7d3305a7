// One entry of restart.rules: the action to take after a failure whose output matches the pattern.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_FAILURE_RULE_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_FAILURE_RULE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard {

struct FailureRule {
  v1::FailureAction action = v1::FAILURE_ACTION_UNSPECIFIED;
  std::string pattern;  // A valid RE2 expression.
  std::string message;  // A text for users; may be empty.
};

// Parses "ACTION PATTERN" or "ACTION PATTERN => MESSAGE". INVALID_ARGUMENT: the message names the
// invalid part.
absl::StatusOr<FailureRule> ParseFailureRule(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_FAILURE_RULE_H_
