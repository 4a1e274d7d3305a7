// The rule for the values of one setting that the trainer reads. Used by run_config.h and the
// headers that it includes.
#ifndef TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
#define TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

struct SettingRule {
  // The limits of a number, inclusive.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // True if a job that runs trainyard-trainer must write this setting.
  bool required = false;
  // If true, a setting that is not written has its default. If false, such a setting has the value
  // 0, an empty text or nullopt.
  bool has_default = false;
};

// The names that job files use for the values of an enum. Specialized for each enum of
// run_config.h.
template <typename Enum>
struct SettingNames;

// True if `Type` is an enum for which SettingNames is specialized.
template <typename Type>
concept NamedSetting = requires {
  SettingNames<Type>::kNames;
};

// Returns the name that job files use for the value. Empty if the value has none.
template <NamedSetting Enum>
std::string SettingNameOf(Enum value) {
  for (const auto& [name, named] : SettingNames<Enum>::kNames) {
    if (named == value) return std::string(name);
  }
  return "";
}

// A setting that violates a rule.
struct SettingProblem {
  std::string key;      // Such as "model.num_layers".
  std::string message;  // One sentence for users: the error and the remedy.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_SETTING_RULE_H_
