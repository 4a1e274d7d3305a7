#include "trainer/start/attention_choice.h"

#include <string>

#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "trainer/config/trainer_error.h"
#include "trainer/ops/gpu.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

// Returns the sizes of a head: "128", or "192 (values 128)".
std::string SizeText(const ModelConfig& model) {
  const std::string query = std::to_string(QueryHeadSize(model));
  if (!HasLatentAttention(model)) return query;
  return query + " (values " + std::to_string(model.v_head_dim) + ")";
}

// Returns the settings that determine the sizes of a head.
std::string SizeSettings(const ModelConfig& model) {
  return HasLatentAttention(model)
             ? "model.qk_head_dim, model.qk_pos_emb_head_dim and model.v_head_dim"
             : "model.hidden_size and model.num_attention_heads";
}

}  // namespace

AttentionBackend ChooseAttention(const RunConfig& config) {
  const AttentionBackend backend = AttentionBackendOf(config);
  if (backend != AttentionBackend::kCudnn) return backend;
  const ModelConfig& model = config.model;
  gpu::AttentionBatch batch{.samples = config.layout.micro_batch,
                            .length = config.train.seq_length,
                            .heads = {.query_heads = model.num_attention_heads,
                                      .key_heads = model.num_query_groups,
                                      .head_size = QueryHeadSize(model)},
                            .window = EffectiveWindow(model, config.train.seq_length),
                            .has_documents = config.data.reset_attention_mask,
                            .type = StoredType(config.train.precision)};
  if (HasLatentAttention(model)) {
    batch.value_size = model.v_head_dim;
    batch.value_offset = model.qk_head_dim;
  }
  const std::string problem = gpu::PrepareAttention(
      batch, config.train.deterministic ? Reproducible::kYes : Reproducible::kNo);
  if (problem.empty()) return backend;
  const bool is_free = config.train.attention_backend == AttentionBackend::kAuto;
  // GPUs without bf16 have no fused attention either.
  const bool is_fp16 = config.train.precision == Precision::kFp16;
  if (is_free && (batch.window > 0 || batch.has_documents || is_fp16)) {
    return AttentionBackend::kManual;
  }
  const std::string limits =
      (batch.window > 0 ? " with model.window_size " + std::to_string(batch.window) : "") +
      (batch.has_documents ? " with data.reset_attention_mask" : "");
  throw TrainerError(ExitCode::kBadConfig,
                     "cuDNN does not support attention with heads of size " + SizeText(model) +
                         limits + " on this GPU (" + problem + "). Choose " + SizeSettings(model) +
                         " so that a "
                         "head's size is a multiple of 8 and at most 256, or set "
                         "train.attention_backend to manual.");
}

RunConfig WithAttentionChosen(RunConfig config) {
  config.train.attention_backend = ChooseAttention(config);
  return config;
}

}  // namespace trainyard::trainer
