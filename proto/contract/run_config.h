// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Settings of a run that trainyard-trainer reads, one struct for each section of a job file. Docs,
// units and defaults are job_spec.proto's. A setting without a default is 0, "" or nullopt when
// nobody wrote it. Rules that span settings, and values that follow from others: run_rules.h.
#ifndef TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_

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

enum class Recompute { kNone = 1, kFull = 2, kSelective = 3 };

template <>
struct SettingNames<Recompute> {
  static constexpr std::array<std::pair<std::string_view, Recompute>, 3> kNames = {{
      {"none", Recompute::kNone},
      {"full", Recompute::kFull},
      {"selective", Recompute::kSelective}}};
};

enum class ContextExchange { kP2p = 1, kAllGather = 2 };

template <>
struct SettingNames<ContextExchange> {
  static constexpr std::array<std::pair<std::string_view, ContextExchange>, 2> kNames = {{
      {"p2p", ContextExchange::kP2p},
      {"all_gather", ContextExchange::kAllGather}}};
};

enum class Normalization { kRmsNorm = 1, kLayerNorm = 2 };

template <>
struct SettingNames<Normalization> {
  static constexpr std::array<std::pair<std::string_view, Normalization>, 2> kNames = {{
      {"rms_norm", Normalization::kRmsNorm},
      {"layer_norm", Normalization::kLayerNorm}}};
};

enum class Activation { kSwiglu = 1, kGelu = 2, kGeluTanh = 3, kSquaredRelu = 4 };

template <>
struct SettingNames<Activation> {
  static constexpr std::array<std::pair<std::string_view, Activation>, 4> kNames = {{
      {"swiglu", Activation::kSwiglu},
      {"gelu", Activation::kGelu},
      {"gelu_tanh", Activation::kGeluTanh},
      {"squared_relu", Activation::kSquaredRelu}}};
};

enum class PositionEmbedding { kRope = 1, kLearnedAbsolute = 2 };

template <>
struct SettingNames<PositionEmbedding> {
  static constexpr std::array<std::pair<std::string_view, PositionEmbedding>, 2> kNames = {{
      {"rope", PositionEmbedding::kRope},
      {"learned_absolute", PositionEmbedding::kLearnedAbsolute}}};
};

enum class RouterScoreFunction { kSoftmax = 1, kSigmoid = 2 };

template <>
struct SettingNames<RouterScoreFunction> {
  static constexpr std::array<std::pair<std::string_view, RouterScoreFunction>, 2> kNames = {{
      {"softmax", RouterScoreFunction::kSoftmax},
      {"sigmoid", RouterScoreFunction::kSigmoid}}};
};

enum class RouterLoadBalancing { kAuxLoss = 1, kSeqAuxLoss = 2, kNone = 3 };

template <>
struct SettingNames<RouterLoadBalancing> {
  static constexpr std::array<std::pair<std::string_view, RouterLoadBalancing>, 3> kNames = {{
      {"aux_loss", RouterLoadBalancing::kAuxLoss},
      {"seq_aux_loss", RouterLoadBalancing::kSeqAuxLoss},
      {"none", RouterLoadBalancing::kNone}}};
};

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

enum class Precision { kFp32 = 1, kBf16 = 2 };

template <>
struct SettingNames<Precision> {
  static constexpr std::array<std::pair<std::string_view, Precision>, 2> kNames = {{
      {"fp32", Precision::kFp32},
      {"bf16", Precision::kBf16}}};
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

struct ResourcesConfig {
  int64_t nodes = 1;
  int64_t slots_per_node = 1;
  DeviceKind device = DeviceKind::kGpu;

  bool operator==(const ResourcesConfig&) const = default;
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
  ContextExchange cp_comm_type = ContextExchange::kP2p;
  bool zero_bubble = false;
  int64_t zero_size = 0;
  int64_t etp = 0;

  bool operator==(const LayoutConfig&) const = default;
};

struct ModelConfig {
  int64_t num_layers = 0;
  int64_t hidden_size = 0;
  int64_t ffn_hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_query_groups = 0;
  int64_t vocab_size = 0;
  double rotary_base = 10000;
  double norm_epsilon = 1e-5;
  bool untie_embeddings_and_output_weights = true;
  double init_method_std = 0.02;
  int64_t kv_channels = 0;
  bool qk_layernorm = false;
  double rope_scaling_factor = 1;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  int64_t rope_original_length = 8192;
  Normalization normalization = Normalization::kRmsNorm;
  bool norm_weights = true;
  bool add_bias_linear = false;
  Activation activation = Activation::kSwiglu;
  PositionEmbedding position_embedding_type = PositionEmbedding::kRope;
  int64_t max_position_embeddings = 0;
  double rotary_percent = 1;
  bool parallel_residual = false;
  double output_layer_init_method_std = 0;
  int64_t window_size = 0;
  int64_t num_experts = 0;
  int64_t moe_router_topk = 0;
  int64_t moe_ffn_hidden_size = 0;
  int64_t moe_shared_expert_intermediate_size = 0;
  int64_t moe_dense_layers = 0;
  RouterScoreFunction moe_router_score_function = RouterScoreFunction::kSoftmax;
  RouterLoadBalancing moe_router_load_balancing_type = RouterLoadBalancing::kAuxLoss;
  double moe_aux_loss_coeff = 0;
  bool multi_latent_attention = false;
  int64_t q_lora_rank = 0;
  int64_t kv_lora_rank = 0;
  int64_t qk_head_dim = 0;
  int64_t qk_pos_emb_head_dim = 0;
  int64_t v_head_dim = 0;

  bool operator==(const ModelConfig&) const = default;
};

struct DataConfig {
  std::string path;
  uint64_t seed = 1234;
  DataFormat format = DataFormat::kAuto;
  std::vector<std::string> blend;
  bool reset_attention_mask = false;
  bool reset_position_ids = false;
  bool eod_mask_loss = false;
  int64_t eod_token = -1;

  bool operator==(const DataConfig&) const = default;
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
  uint64_t seed = 1234;
  int64_t log_every_steps = 1;
  int64_t threads = 0;
  bool deterministic = true;
  int64_t gradient_log_interval = 0;
  bool gradient_noise_scale = false;
  AttentionBackend attention_backend = AttentionBackend::kAuto;
  Fp8Recipe fp8 = Fp8Recipe::kNone;
  int64_t fp8_amax_history_len = 0;
  Fp8AmaxAlgorithm fp8_amax_compute_algo = Fp8AmaxAlgorithm::kMostRecent;

  bool operator==(const TrainConfig&) const = default;
};

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

struct EvaluationConfig {
  int64_t every_steps = 0;
  int64_t samples = 64;
  std::vector<std::string> sets;
  bool only = false;

  bool operator==(const EvaluationConfig&) const = default;
};

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

// VisitSettings calls visit(key, rule, value) for each setting of a section.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, ResourcesConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("nodes", SettingRule{.min = 1, .max = 16384, .has_default = true}, config.nodes);
  visit("slots_per_node", SettingRule{.min = 1, .max = 1024, .has_default = true},
        config.slots_per_node);
  visit("device", SettingRule{.has_default = true}, config.device);
}

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
}

template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, ModelConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("num_layers", SettingRule{.min = 1, .max = 1000, .required = true}, config.num_layers);
  visit("hidden_size", SettingRule{.min = 8, .max = 131072, .required = true}, config.hidden_size);
  visit("ffn_hidden_size", SettingRule{.min = 8, .max = 1048576, .required = true},
        config.ffn_hidden_size);
  visit("num_attention_heads", SettingRule{.min = 1, .max = 1024, .required = true},
        config.num_attention_heads);
  visit("num_query_groups", SettingRule{.min = 1, .max = 1024}, config.num_query_groups);
  visit("vocab_size", SettingRule{.min = 2, .max = 4194304, .required = true}, config.vocab_size);
  visit("rotary_base", SettingRule{.min = 1, .max = 1000000000, .has_default = true},
        config.rotary_base);
  visit("norm_epsilon", SettingRule{.min = 1e-12, .max = 0.01, .has_default = true},
        config.norm_epsilon);
  visit("untie_embeddings_and_output_weights", SettingRule{.has_default = true},
        config.untie_embeddings_and_output_weights);
  visit("init_method_std", SettingRule{.min = 1e-09, .max = 10, .has_default = true},
        config.init_method_std);
  visit("kv_channels", SettingRule{.min = 2, .max = 65536}, config.kv_channels);
  visit("qk_layernorm", SettingRule{.has_default = true}, config.qk_layernorm);
  visit("rope_scaling_factor", SettingRule{.min = 1, .max = 1000000, .has_default = true},
        config.rope_scaling_factor);
  visit("rope_low_freq_factor", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_low_freq_factor);
  visit("rope_high_freq_factor", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_high_freq_factor);
  visit("rope_original_length", SettingRule{.min = 1, .max = 16777216, .has_default = true},
        config.rope_original_length);
  visit("normalization", SettingRule{.has_default = true}, config.normalization);
  visit("norm_weights", SettingRule{.has_default = true}, config.norm_weights);
  visit("add_bias_linear", SettingRule{.has_default = true}, config.add_bias_linear);
  visit("activation", SettingRule{.has_default = true}, config.activation);
  visit("position_embedding_type", SettingRule{.has_default = true},
        config.position_embedding_type);
  visit("max_position_embeddings", SettingRule{.min = 2, .max = 16777216},
        config.max_position_embeddings);
  visit("rotary_percent", SettingRule{.min = 0.001, .max = 1, .has_default = true},
        config.rotary_percent);
  visit("parallel_residual", SettingRule{.has_default = true}, config.parallel_residual);
  visit("output_layer_init_method_std", SettingRule{.min = 1e-09, .max = 10},
        config.output_layer_init_method_std);
  visit("window_size", SettingRule{.min = 1, .max = 16777216}, config.window_size);
  visit("num_experts", SettingRule{.min = 1, .max = 65536}, config.num_experts);
  visit("moe_router_topk", SettingRule{.min = 1, .max = 65536}, config.moe_router_topk);
  visit("moe_ffn_hidden_size", SettingRule{.min = 8, .max = 1048576}, config.moe_ffn_hidden_size);
  visit("moe_shared_expert_intermediate_size", SettingRule{.min = 8, .max = 1048576},
        config.moe_shared_expert_intermediate_size);
  visit("moe_dense_layers", SettingRule{.min = 1, .max = 1000}, config.moe_dense_layers);
  visit("moe_router_score_function", SettingRule{.has_default = true},
        config.moe_router_score_function);
  visit("moe_router_load_balancing_type", SettingRule{.has_default = true},
        config.moe_router_load_balancing_type);
  visit("moe_aux_loss_coeff", SettingRule{.min = 1e-09, .max = 1000}, config.moe_aux_loss_coeff);
  visit("multi_latent_attention", SettingRule{.has_default = true}, config.multi_latent_attention);
  visit("q_lora_rank", SettingRule{.min = 1, .max = 1048576}, config.q_lora_rank);
  visit("kv_lora_rank", SettingRule{.min = 1, .max = 1048576}, config.kv_lora_rank);
  visit("qk_head_dim", SettingRule{.min = 1, .max = 65536}, config.qk_head_dim);
  visit("qk_pos_emb_head_dim", SettingRule{.min = 2, .max = 65536}, config.qk_pos_emb_head_dim);
  visit("v_head_dim", SettingRule{.min = 1, .max = 65536}, config.v_head_dim);
}

template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, DataConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("path", SettingRule{}, config.path);
  visit("seed", SettingRule{.has_default = true}, config.seed);
  visit("format", SettingRule{.has_default = true}, config.format);
  visit("blend", SettingRule{}, config.blend);
  visit("reset_attention_mask", SettingRule{.has_default = true}, config.reset_attention_mask);
  visit("reset_position_ids", SettingRule{.has_default = true}, config.reset_position_ids);
  visit("eod_mask_loss", SettingRule{.has_default = true}, config.eod_mask_loss);
  visit("eod_token", SettingRule{.min = -1, .max = 4194303, .has_default = true}, config.eod_token);
}

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
  visit("seed", SettingRule{.has_default = true}, config.seed);
  visit("log_every_steps", SettingRule{.min = 1, .max = 1000000, .has_default = true},
        config.log_every_steps);
  visit("threads", SettingRule{.min = 1, .max = 1024}, config.threads);
  visit("deterministic", SettingRule{.has_default = true}, config.deterministic);
  visit("gradient_log_interval", SettingRule{.min = 0, .max = 1000000000, .has_default = true},
        config.gradient_log_interval);
  visit("gradient_noise_scale", SettingRule{.has_default = true}, config.gradient_noise_scale);
  visit("attention_backend", SettingRule{.has_default = true}, config.attention_backend);
  visit("fp8", SettingRule{.has_default = true}, config.fp8);
  visit("fp8_amax_history_len", SettingRule{.min = 1, .max = 1000000}, config.fp8_amax_history_len);
  visit("fp8_amax_compute_algo", SettingRule{.has_default = true}, config.fp8_amax_compute_algo);
}

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

template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, EvaluationConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("every_steps", SettingRule{.min = 0, .max = 1000000000000, .has_default = true},
        config.every_steps);
  visit("samples", SettingRule{.min = 1, .max = 1000000000, .has_default = true}, config.samples);
  visit("sets", SettingRule{}, config.sets);
  visit("only", SettingRule{.has_default = true}, config.only);
}

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

struct RunConfig {
  std::string name;
  ResourcesConfig resources;
  LayoutConfig layout;
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;

  bool operator==(const RunConfig&) const = default;
};

// Calls visit(name, section) for each section.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, RunConfig>
void VisitSections(Config& config, Visit&& visit) {
  visit("resources", config.resources);
  visit("layout", config.layout);
  visit("model", config.model);
  visit("data", config.data);
  visit("train", config.train);
  visit("optimizer", config.optimizer);
  visit("schedule", config.schedule);
  visit("evaluation", config.evaluation);
  visit("checkpoint", config.checkpoint);
}

// Keys at the top of a job file, the trainer's and others.
inline constexpr std::array<std::string_view, 24> kJobFileKeys = {
    "name",
    "extends",
    "description",
    "resources",
    "layout",
    "auto_layout",
    "model",
    "data",
    "train",
    "optimizer",
    "schedule",
    "evaluation",
    "checkpoint",
    "restart",
    "guard",
    "watchdog",
    "command",
    "env",
    "unset_env",
    "torchrun_env",
    "secrets",
    "log_parser",
    "working_directory",
    "stop_grace"};

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_RUN_CONFIG_H_
