// Rule of one setting that the trainer reads; proto/contract/run_config.h is full of them.
#ifndef TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
#define TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

struct SettingRule {
  // Limits of a number, both legal.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // The run cannot be described without it.
  bool required = false;
  // Has a value when nobody wrote one. Without a default, 0, an empty text or nullopt means "not
  // written".
  bool has_default = false;
};

// Names of an enum's values in job files; specialised for each enum of run_config.h.
template <typename Enum>
struct SettingNames;

// True for enums that have such names.
template <typename Type>
concept NamedSetting = requires {
  SettingNames<Type>::kNames;
};

// A setting that breaks a rule.
struct SettingProblem {
  std::string key;      // Such as "model.num_layers".
  std::string message;  // One sentence for a person: what is wrong and what would be right.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
