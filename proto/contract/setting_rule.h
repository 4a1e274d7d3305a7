// Rule of one setting read by the trainer; used throughout proto/contract/run_config.h.
#ifndef TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
#define TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

struct SettingRule {
  // Limits of a number, inclusive.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // True if the description of a run is incomplete without this setting.
  bool required = false;
  // True if the setting has a value when it is not written. Without a default, 0, an empty text or
  // nullopt means "not written".
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

// A violation of a rule by a setting.
struct SettingProblem {
  std::string key;      // Such as "model.num_layers".
  std::string message;  // One sentence for a person: the error and the remedy.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
