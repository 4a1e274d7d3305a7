// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `evaluation` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_EVALUATION_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_EVALUATION_CONFIG_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "proto/contract/setting_rule.h"

// clang-format off
namespace trainyard {

struct EvaluationConfig {
  int64_t every_steps = 0;
  int64_t samples = 64;
  std::vector<std::string> sets;
  bool only = false;

  bool operator==(const EvaluationConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, EvaluationConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("every_steps", SettingRule{.min = 0, .max = 1000000000000, .has_default = true},
        config.every_steps);
  visit("samples", SettingRule{.min = 1, .max = 1000000000, .has_default = true}, config.samples);
  visit("sets", SettingRule{}, config.sets);
  visit("only", SettingRule{.has_default = true}, config.only);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_EVALUATION_CONFIG_H_
