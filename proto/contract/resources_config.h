// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `resources` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_RESOURCES_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_RESOURCES_CONFIG_H_

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

enum class DeviceKind { kCpu = 1, kGpu = 2 };

template <>
struct SettingNames<DeviceKind> {
  static constexpr std::array<std::pair<std::string_view, DeviceKind>, 2> kNames = {{
      {"cpu", DeviceKind::kCpu},
      {"gpu", DeviceKind::kGpu}}};
};

struct ResourcesConfig {
  int64_t nodes = 1;
  int64_t slots_per_node = 1;
  DeviceKind device = DeviceKind::kGpu;
  int64_t cpus_per_rank = 0;
  int64_t memory_per_rank = 0;

  bool operator==(const ResourcesConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, ResourcesConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("nodes", SettingRule{.min = 1, .max = 16384, .has_default = true}, config.nodes);
  visit("slots_per_node", SettingRule{.min = 1, .max = 1024, .has_default = true},
        config.slots_per_node);
  visit("device", SettingRule{.has_default = true}, config.device);
  visit("cpus_per_rank", SettingRule{.min = 1, .max = 4096}, config.cpus_per_rank);
  visit("memory_per_rank", SettingRule{.min = 1048576, .max = 1125899906842624},
        config.memory_per_rank);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_RESOURCES_CONFIG_H_
