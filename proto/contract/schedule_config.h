// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `schedule` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_SCHEDULE_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_SCHEDULE_CONFIG_H_

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

enum class ScheduleKind {
  kConstant = 1,
  kCosine = 2,
  kLinear = 3,
  kWsd = 4,
  kInverseSquareRoot = 5
};

template <>
struct SettingNames<ScheduleKind> {
  static constexpr std::array<std::pair<std::string_view, ScheduleKind>, 5> kNames = {{
      {"constant", ScheduleKind::kConstant},
      {"cosine", ScheduleKind::kCosine},
      {"linear", ScheduleKind::kLinear},
      {"wsd", ScheduleKind::kWsd},
      {"inverse_square_root", ScheduleKind::kInverseSquareRoot}}};
};

enum class WsdDecayStyle { kLinear = 1, kCosine = 2, kExponential = 3, kMinusSqrt = 4 };

template <>
struct SettingNames<WsdDecayStyle> {
  static constexpr std::array<std::pair<std::string_view, WsdDecayStyle>, 4> kNames = {{
      {"linear", WsdDecayStyle::kLinear},
      {"cosine", WsdDecayStyle::kCosine},
      {"exponential", WsdDecayStyle::kExponential},
      {"minus_sqrt", WsdDecayStyle::kMinusSqrt}}};
};

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kCosine;
  int64_t warmup_steps = 0;
  int64_t decay_steps = 0;
  WsdDecayStyle wsd_decay_style = WsdDecayStyle::kLinear;
  int64_t warmup_samples = 0;
  int64_t warmup_tokens = 0;
  double warmup_fraction = 0;
  int64_t decay_samples = 0;
  int64_t decay_tokens = 0;
  double decay_fraction = 0;

  bool operator==(const ScheduleConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, ScheduleConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("kind", SettingRule{.has_default = true}, config.kind);
  visit("warmup_steps", SettingRule{.min = 0, .max = 1000000000000, .has_default = true},
        config.warmup_steps);
  visit("decay_steps", SettingRule{.min = 1, .max = 1000000000000}, config.decay_steps);
  visit("wsd_decay_style", SettingRule{.has_default = true}, config.wsd_decay_style);
  visit("warmup_samples", SettingRule{.min = 1, .max = 1e+15}, config.warmup_samples);
  visit("warmup_tokens", SettingRule{.min = 1, .max = 1e+18}, config.warmup_tokens);
  visit("warmup_fraction", SettingRule{.min = 1e-09, .max = 1}, config.warmup_fraction);
  visit("decay_samples", SettingRule{.min = 1, .max = 1e+15}, config.decay_samples);
  visit("decay_tokens", SettingRule{.min = 1, .max = 1e+18}, config.decay_tokens);
  visit("decay_fraction", SettingRule{.min = 1e-09, .max = 1}, config.decay_fraction);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_SCHEDULE_CONFIG_H_
