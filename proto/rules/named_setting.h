// Formats settings for error messages, and checks that one setting is a multiple or a divisor of
// another.
#ifndef TRAINYARD_PROTO_RULES_NAMED_SETTING_H_
#define TRAINYARD_PROTO_RULES_NAMED_SETTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/setting_rule.h"

namespace trainyard {

inline std::string Quoted(const std::string& key) { return "`" + key + "`"; }

// A setting's key and value, for use in error messages.
struct Named {
  std::string key;
  int64_t value;

  std::string Text() const { return Quoted(key) + " (" + std::to_string(value) + ")"; }
};

// Reports a problem if `whole` is not a multiple of `part`.
void CheckMultiple(const Named& whole, const Named& part, std::vector<SettingProblem>& problems);

// Reports a problem if `part`, a size of the layout, does not divide `whole`. `whole_text` names
// `whole` in the message.
void CheckDivides(const std::string& whole_text, int64_t whole, const Named& part,
                  std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_NAMED_SETTING_H_
