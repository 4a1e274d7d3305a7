// Reports settings that have no effect without another setting.
#ifndef TRAINYARD_PROTO_RULES_WRITTEN_SETTING_H_
#define TRAINYARD_PROTO_RULES_WRITTEN_SETTING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/rules/named_setting.h"

namespace trainyard {

// A setting, and whether its value differs from the default.
struct Written {
  const char* key;
  bool is_written;
};

// Reports each written setting, because it has no effect. `needed` names the missing setting and
// may give the reason.
template <size_t count>
void CheckNeeds(const Written (&settings)[count], const std::string& needed,
                std::vector<SettingProblem>& problems) {
  for (const Written& setting : settings) {
    if (!setting.is_written) continue;
    problems.push_back({setting.key, Quoted(setting.key) + " needs " + needed});
  }
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_WRITTEN_SETTING_H_
