// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `train` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_TRAIN_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_TRAIN_CONFIG_H_

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

enum class Precision { kFp32 = 1, kBf16 = 2, kFp16 = 3 };

template <>
struct SettingNames<Precision> {
  static constexpr std::array<std::pair<std::string_view, Precision>, 3> kNames = {{
      {"fp32", Precision::kFp32},
      {"bf16", Precision::kBf16},
      {"fp16", Precision::kFp16}}};
};

enum class AttentionBackend { kAuto = 1, kCudnn = 2, kFlash = 3, kSdpa = 4, kManual = 5 };

template <>
struct SettingNames<AttentionBackend> {
  static constexpr std::array<std::pair<std::string_view, AttentionBackend>, 5> kNames = {{
      {"auto", AttentionBackend::kAuto},
      {"cudnn", AttentionBackend::kCudnn},
      {"flash", AttentionBackend::kFlash},
      {"sdpa", AttentionBackend::kSdpa},
      {"manual", AttentionBackend::kManual}}};
};

enum class Fp8Recipe { kNone = 1, kDelayed = 2, kCurrent = 3, kBlock = 4 };

template <>
struct SettingNames<Fp8Recipe> {
  static constexpr std::array<std::pair<std::string_view, Fp8Recipe>, 4> kNames = {{
      {"none", Fp8Recipe::kNone},
      {"delayed", Fp8Recipe::kDelayed},
      {"current", Fp8Recipe::kCurrent},
      {"block", Fp8Recipe::kBlock}}};
};

enum class Fp8AmaxAlgorithm { kMostRecent = 1, kMax = 2 };

template <>
struct SettingNames<Fp8AmaxAlgorithm> {
  static constexpr std::array<std::pair<std::string_view, Fp8AmaxAlgorithm>, 2> kNames = {{
      {"most_recent", Fp8AmaxAlgorithm::kMostRecent},
      {"max", Fp8AmaxAlgorithm::kMax}}};
};

struct TrainConfig {
  int64_t seq_length = 0;
  int64_t global_batch = 0;
  int64_t steps = 0;
  int64_t tokens = 0;
  int64_t samples = 0;
  int64_t rampup_batch_start = 0;
  int64_t rampup_batch_increment = 0;
  int64_t rampup_batch_samples = 0;
  Precision precision = Precision::kBf16;
  double initial_loss_scale = 4294967296;
  double min_loss_scale = 1;
  int64_t loss_scale_window = 1000;
  int64_t hysteresis = 2;
  uint64_t seed = 1234;
  int64_t log_every_steps = 1;
  int64_t threads = 0;
  int64_t distributed_timeout_s = 600;
  bool deterministic = true;
  int64_t gradient_log_interval = 0;
  bool gradient_noise_scale = false;
  AttentionBackend attention_backend = AttentionBackend::kAuto;
  Fp8Recipe fp8 = Fp8Recipe::kNone;
  int64_t fp8_amax_history_len = 0;
  Fp8AmaxAlgorithm fp8_amax_compute_algo = Fp8AmaxAlgorithm::kMostRecent;

  bool operator==(const TrainConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, TrainConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("seq_length", SettingRule{.min = 2, .max = 16777216, .required = true}, config.seq_length);
  visit("global_batch", SettingRule{.min = 1, .max = 16777216, .required = true},
        config.global_batch);
  visit("steps", SettingRule{.min = 1, .max = 1000000000000}, config.steps);
  visit("tokens", SettingRule{.min = 1, .max = 1e+18}, config.tokens);
  visit("samples", SettingRule{.min = 1, .max = 1e+15}, config.samples);
  visit("rampup_batch_start", SettingRule{.min = 1, .max = 16777216}, config.rampup_batch_start);
  visit("rampup_batch_increment", SettingRule{.min = 1, .max = 16777216},
        config.rampup_batch_increment);
  visit("rampup_batch_samples", SettingRule{.min = 1, .max = 1e+15}, config.rampup_batch_samples);
  visit("precision", SettingRule{.has_default = true}, config.precision);
  visit("initial_loss_scale", SettingRule{.min = 1, .max = 1e+18, .has_default = true},
        config.initial_loss_scale);
  visit("min_loss_scale", SettingRule{.min = 1, .max = 1e+18, .has_default = true},
        config.min_loss_scale);
  visit("loss_scale_window", SettingRule{.min = 1, .max = 1000000000, .has_default = true},
        config.loss_scale_window);
  visit("hysteresis", SettingRule{.min = 1, .max = 1000000, .has_default = true},
        config.hysteresis);
  visit("seed", SettingRule{.has_default = true}, config.seed);
  visit("log_every_steps", SettingRule{.min = 1, .max = 1000000, .has_default = true},
        config.log_every_steps);
  visit("threads", SettingRule{.min = 1, .max = 1024}, config.threads);
  visit("distributed_timeout_s", SettingRule{.min = 5, .max = 86400, .has_default = true},
        config.distributed_timeout_s);
  visit("deterministic", SettingRule{.has_default = true}, config.deterministic);
  visit("gradient_log_interval", SettingRule{.min = 0, .max = 1000000000, .has_default = true},
        config.gradient_log_interval);
  visit("gradient_noise_scale", SettingRule{.has_default = true}, config.gradient_noise_scale);
  visit("attention_backend", SettingRule{.has_default = true}, config.attention_backend);
  visit("fp8", SettingRule{.has_default = true}, config.fp8);
  visit("fp8_amax_history_len", SettingRule{.min = 1, .max = 1000000}, config.fp8_amax_history_len);
  visit("fp8_amax_compute_algo", SettingRule{.has_default = true}, config.fp8_amax_compute_algo);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_TRAIN_CONFIG_H_
