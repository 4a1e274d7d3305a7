// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `optimizer` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_OPTIMIZER_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_OPTIMIZER_CONFIG_H_

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
#include "proto/contract/train_config.h"

// clang-format off
namespace trainyard {

struct OptimizerConfig {
  double lr = 3e-4;
  double min_lr = 3e-5;
  double weight_decay = 0.1;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.95;
  double adam_eps = 1e-8;
  double clip_grad = 1.0;
  Precision exp_avg_dtype = Precision::kFp32;
  Precision exp_avg_sq_dtype = Precision::kFp32;
  double adaptive_clip = 0;

  bool operator==(const OptimizerConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, OptimizerConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("lr", SettingRule{.min = 0, .max = 100, .has_default = true}, config.lr);
  visit("min_lr", SettingRule{.min = 0, .max = 100, .has_default = true}, config.min_lr);
  visit("weight_decay", SettingRule{.min = 0, .max = 10, .has_default = true}, config.weight_decay);
  visit("adam_beta1", SettingRule{.min = 0, .max = 0.999999, .has_default = true},
        config.adam_beta1);
  visit("adam_beta2", SettingRule{.min = 0, .max = 0.9999999, .has_default = true},
        config.adam_beta2);
  visit("adam_eps", SettingRule{.min = 0, .max = 1, .has_default = true}, config.adam_eps);
  visit("clip_grad", SettingRule{.min = 0, .max = 1000000000, .has_default = true},
        config.clip_grad);
  visit("exp_avg_dtype", SettingRule{.has_default = true}, config.exp_avg_dtype);
  visit("exp_avg_sq_dtype", SettingRule{.has_default = true}, config.exp_avg_sq_dtype);
  visit("adaptive_clip", SettingRule{.min = 0, .max = 1000000, .has_default = true},
        config.adaptive_clip);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_OPTIMIZER_CONFIG_H_
