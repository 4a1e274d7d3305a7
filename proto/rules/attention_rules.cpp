#include "proto/rules/attention_rules.h"

#include "proto/model/model_size.h"

namespace trainyard {
namespace {

// A requirement that a backend cannot meet, and whether the run has this requirement.
struct Demand {
  bool is_made;
  const char* text;
};

// Returns the reason why a backend cannot compute the run's attention; empty if it can.
std::string Obstacle(AttentionBackend backend, const RunConfig& config) {
  if (backend == AttentionBackend::kAuto || backend == AttentionBackend::kManual) return "";
  const bool is_cudnn = backend == AttentionBackend::kCudnn;
  const bool is_sdpa = backend == AttentionBackend::kSdpa;
  const bool has_window = EffectiveWindow(config.model, config.train.seq_length) > 0;
  const bool has_parts = config.layout.cp > 1;
  const Demand demands[] = {
      {config.resources.device != DeviceKind::kGpu, "is for GPUs (`resources.device` is cpu)"},
      {!is_sdpa && config.train.precision == Precision::kFp32,
       "computes in bf16 and fp16 only (`train.precision` is fp32)"},
      {is_cudnn && config.train.precision == Precision::kFp16 && config.data.reset_attention_mask,
       "does not support `data.reset_attention_mask` in fp16"},
      {!is_cudnn && config.train.deterministic,
       "is not bitwise reproducible (`train.deterministic` is true)"},
      {!is_cudnn && has_parts, "does not support context parallelism (`layout.cp` is above 1)"},
      {is_cudnn && has_parts && has_window,
       "does not support `model.window_size` with context parallelism (`layout.cp` is above 1)"},
      {is_cudnn && has_parts && config.data.reset_attention_mask,
       "does not support `data.reset_attention_mask` with context parallelism (`layout.cp` is "
       "above 1)"},
      {!is_cudnn && HasLatentAttention(config.model),
       "does not support `model.multi_latent_attention`"},
      {is_cudnn && HasLatentAttention(config.model) && has_window,
       "does not support `model.window_size` with `model.multi_latent_attention`"},
      {is_cudnn && HasLatentAttention(config.model) && config.data.reset_attention_mask,
       "does not support `data.reset_attention_mask` with `model.multi_latent_attention`"},
      {is_sdpa && has_window, "does not support `model.window_size`"},
      {!is_cudnn && config.data.reset_attention_mask,
       "does not support `data.reset_attention_mask`"},
  };
  for (const Demand& demand : demands) {
    if (demand.is_made) return demand.text;
  }
  return "";
}

// Returns the backends that can compute the run's attention, such as "auto, cudnn or manual".
std::string ChoicesFor(const RunConfig& config) {
  std::vector<std::string> names;
  for (const auto& [name, backend] : SettingNames<AttentionBackend>::kNames) {
    if (Obstacle(backend, config).empty()) names.emplace_back(name);
  }
  std::string text = names.front();
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

}  // namespace

AttentionBackend AttentionBackendOf(const RunConfig& config) {
  if (config.train.attention_backend != AttentionBackend::kAuto) {
    return config.train.attention_backend;
  }
  return Obstacle(AttentionBackend::kCudnn, config).empty() ? AttentionBackend::kCudnn
                                                            : AttentionBackend::kManual;
}

std::string_view NameOf(AttentionBackend backend) {
  for (const auto& [name, value] : SettingNames<AttentionBackend>::kNames) {
    if (value == backend) return name;
  }
  return "";
}

bool UsesDocuments(const DataConfig& data) {
  return data.reset_attention_mask || data.reset_position_ids || data.eod_mask_loss;
}

std::vector<SettingProblem> FindAttentionProblems(const RunConfig& config) {
  const AttentionBackend backend = config.train.attention_backend;
  const std::string obstacle = Obstacle(backend, config);
  if (obstacle.empty()) return {};
  return {{"train.attention_backend", "`train.attention_backend` " + std::string(NameOf(backend)) +
                                          " " + obstacle + "; set it to " + ChoicesFor(config)}};
}

std::vector<SettingProblem> FindDocumentProblems(const RunConfig& config) {
  const int64_t token = config.data.eod_token;
  if (token < 0) return {};
  const std::string text = "`data.eod_token` (" + std::to_string(token) + ")";
  if (!UsesDocuments(config.data)) {
    return {{"data.eod_token",
             text + " has no effect without `data.reset_attention_mask`, `data.reset_position_ids` "
                    "or `data.eod_mask_loss`; set one of them, or remove `data.eod_token`"}};
  }
  if (token < config.model.vocab_size) return {};
  return {{"data.eod_token", text + " must be below `model.vocab_size` (" +
                                 std::to_string(config.model.vocab_size) + ")"}};
}

}  // namespace trainyard
