#include "controller/core/verdict/cause_rules.h"

#include <algorithm>

namespace trainyard::controller {

const CauseRules& RulesOf(v1::VerdictCause cause) {
  static constexpr CauseRules kUnknown;
  const auto found = std::ranges::find(kCauseRules, cause, &CauseRules::cause);
  return found == kCauseRules.end() ? kUnknown : *found;
}

}  // namespace trainyard::controller
