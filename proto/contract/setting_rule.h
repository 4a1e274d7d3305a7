// The rule of one setting that the trainer reads. All of proto/contract/run_config.h uses it.
#ifndef TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
#define TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

struct SettingRule {
  // The limits of a number. The limits themselves are valid values.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // True if the description of a run is incomplete without this setting.
  bool required = false;
  // True if the setting has a default, which is its value if nobody has written it. If there is no
  // default, 0, an empty text or nullopt means "not written".
  bool has_default = false;
};

// The names in job files of an enum's values. Specialised for each enum of run_config.h.
template <typename Enum>
struct SettingNames;

// True if `Type` is an enum with such names.
template <typename Type>
concept NamedSetting = requires {
  SettingNames<Type>::kNames;
};

// A violation of a rule by a setting.
struct SettingProblem {
  std::string key;      // Such as "model.num_layers".
  std::string message;  // One sentence for users: the error and the remedy.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
