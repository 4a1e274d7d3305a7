// Settings as messages name them, and the rules of divisibility between them.
#ifndef TRAINYARD_PROTO_RULES_NAMED_SETTING_H_
#define TRAINYARD_PROTO_RULES_NAMED_SETTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"

namespace trainyard {

inline std::string Quoted(const std::string& key) { return "`" + key + "`"; }

// A setting and its key, for messages.
struct Named {
  std::string key;
  int64_t value;

  std::string Text() const { return Quoted(key) + " (" + std::to_string(value) + ")"; }
};

// Reports a whole that is not a multiple of the part.
void CheckMultiple(const Named& whole, const Named& part, std::vector<SettingProblem>& problems);

// Checks that a size of the layout divides `whole`, which `whole_text` names.
void CheckDivides(const std::string& whole_text, int64_t whole, const Named& part,
                  std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_NAMED_SETTING_H_
