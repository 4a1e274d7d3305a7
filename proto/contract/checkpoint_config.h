// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `checkpoint` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CONFIG_H_

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

struct CheckpointConfig {
  std::string dir;
  int64_t every_steps = 1000;
  int64_t keep_last = 3;
  int64_t keep_every_steps = 0;
  int64_t keep_best = 0;
  std::string best_metric;
  std::optional<bool> always_save_checkpoint;
  bool async = true;
  std::string resume_from;

  bool operator==(const CheckpointConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, CheckpointConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("dir", SettingRule{}, config.dir);
  visit("every_steps", SettingRule{.min = 0, .max = 1000000000000, .has_default = true},
        config.every_steps);
  visit("keep_last", SettingRule{.min = 1, .max = 100000, .has_default = true}, config.keep_last);
  visit("keep_every_steps", SettingRule{.min = 0, .max = 1000000000000, .has_default = true},
        config.keep_every_steps);
  visit("keep_best", SettingRule{.min = 0, .max = 100000, .has_default = true}, config.keep_best);
  visit("best_metric", SettingRule{}, config.best_metric);
  visit("always_save_checkpoint", SettingRule{}, config.always_save_checkpoint);
  visit("async", SettingRule{.has_default = true}, config.async);
  visit("resume_from", SettingRule{}, config.resume_from);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_CHECKPOINT_CONFIG_H_
