// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `layout` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_LAYOUT_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_LAYOUT_CONFIG_H_

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

enum class Recompute { kNone = 1, kFull = 2, kSelective = 3 };

template <>
struct SettingNames<Recompute> {
  static constexpr std::array<std::pair<std::string_view, Recompute>, 3> kNames = {{
      {"none", Recompute::kNone},
      {"full", Recompute::kFull},
      {"selective", Recompute::kSelective}}};
};

enum class ContextExchange { kP2p = 1, kAllGather = 2, kA2a = 3, kAuto = 4 };

template <>
struct SettingNames<ContextExchange> {
  static constexpr std::array<std::pair<std::string_view, ContextExchange>, 4> kNames = {{
      {"p2p", ContextExchange::kP2p},
      {"all_gather", ContextExchange::kAllGather},
      {"a2a", ContextExchange::kA2a},
      {"auto", ContextExchange::kAuto}}};
};

enum class TokenDispatcher { kAuto = 1, kAlltoall = 2, kAllgather = 3 };

template <>
struct SettingNames<TokenDispatcher> {
  static constexpr std::array<std::pair<std::string_view, TokenDispatcher>, 3> kNames = {{
      {"auto", TokenDispatcher::kAuto},
      {"alltoall", TokenDispatcher::kAlltoall},
      {"allgather", TokenDispatcher::kAllgather}}};
};

struct LayoutConfig {
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t ep = 1;
  int64_t dp = 0;
  int64_t pp = 1;
  int64_t vpp = 1;
  int64_t zero = 0;
  int64_t micro_batch = 1;
  Recompute recompute = Recompute::kNone;
  int64_t recompute_num_layers = 0;
  bool sequence_parallel = true;
  ContextExchange cp_comm_type = ContextExchange::kAuto;
  bool zero_bubble = false;
  int64_t zero_size = 0;
  int64_t etp = 0;
  TokenDispatcher moe_token_dispatcher_type = TokenDispatcher::kAuto;

  bool operator==(const LayoutConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, LayoutConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("tp", SettingRule{.min = 1, .max = 1024, .has_default = true}, config.tp);
  visit("cp", SettingRule{.min = 1, .max = 1024, .has_default = true}, config.cp);
  visit("ep", SettingRule{.min = 1, .max = 16384, .has_default = true}, config.ep);
  visit("dp", SettingRule{.min = 1, .max = 16384}, config.dp);
  visit("pp", SettingRule{.min = 1, .max = 1024, .has_default = true}, config.pp);
  visit("vpp", SettingRule{.min = 1, .max = 1024, .has_default = true}, config.vpp);
  visit("zero", SettingRule{.min = 0, .max = 3, .has_default = true}, config.zero);
  visit("micro_batch", SettingRule{.min = 1, .max = 65536, .has_default = true},
        config.micro_batch);
  visit("recompute", SettingRule{.has_default = true}, config.recompute);
  visit("recompute_num_layers", SettingRule{.min = 1, .max = 1000}, config.recompute_num_layers);
  visit("sequence_parallel", SettingRule{.has_default = true}, config.sequence_parallel);
  visit("cp_comm_type", SettingRule{.has_default = true}, config.cp_comm_type);
  visit("zero_bubble", SettingRule{.has_default = true}, config.zero_bubble);
  visit("zero_size", SettingRule{.min = 1, .max = 16384}, config.zero_size);
  visit("etp", SettingRule{.min = 1, .max = 1024}, config.etp);
  visit("moe_token_dispatcher_type", SettingRule{.has_default = true},
        config.moe_token_dispatcher_type);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_LAYOUT_CONFIG_H_
