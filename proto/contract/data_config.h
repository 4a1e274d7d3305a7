// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `data` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_DATA_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_DATA_CONFIG_H_

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

enum class DataFormat { kAuto = 1, kTrainyard = 2, kMegatron = 3, kNanogpt = 4, kLlmc = 5 };

template <>
struct SettingNames<DataFormat> {
  static constexpr std::array<std::pair<std::string_view, DataFormat>, 5> kNames = {{
      {"auto", DataFormat::kAuto},
      {"trainyard", DataFormat::kTrainyard},
      {"megatron", DataFormat::kMegatron},
      {"nanogpt", DataFormat::kNanogpt},
      {"llmc", DataFormat::kLlmc}}};
};

struct DataConfig {
  std::string path;
  uint64_t seed = 1234;
  DataFormat format = DataFormat::kAuto;
  std::vector<std::string> blend;
  std::vector<std::string> blend_stages;
  bool reset_attention_mask = false;
  bool reset_position_ids = false;
  bool eod_mask_loss = false;
  int64_t eod_token = -1;

  bool operator==(const DataConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, DataConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("path", SettingRule{}, config.path);
  visit("seed", SettingRule{.has_default = true}, config.seed);
  visit("format", SettingRule{.has_default = true}, config.format);
  visit("blend", SettingRule{}, config.blend);
  visit("blend_stages", SettingRule{}, config.blend_stages);
  visit("reset_attention_mask", SettingRule{.has_default = true}, config.reset_attention_mask);
  visit("reset_position_ids", SettingRule{.has_default = true}, config.reset_position_ids);
  visit("eod_mask_loss", SettingRule{.has_default = true}, config.eod_mask_loss);
  visit("eod_token", SettingRule{.min = -1, .max = 4194303, .has_default = true}, config.eod_token);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_DATA_CONFIG_H_
