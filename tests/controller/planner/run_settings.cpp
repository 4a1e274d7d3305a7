#include "tests/controller/planner/run_settings.h"

#include <algorithm>

namespace trainyard::planner {

RunSettings RunSettings::NarrowMoments() const {
  RunSettings changed = *this;
  OptimizerConfig& optimizer = changed.config.optimizer;
  optimizer.exp_avg_dtype = optimizer.exp_avg_sq_dtype = Precision::kBf16;
  return changed;
}

RunSettings RunSettings::Fp8() const {
  RunSettings changed = *this;
  changed.config.train.fp8 = Fp8Recipe::kDelayed;
  return changed;
}

RunSettings Settings(const ModelConfig& model, int64_t length, int64_t batch, int64_t micro_batch) {
  RunSettings run;
  run.config.model = model;
  run.config.train.seq_length = length;
  run.config.train.global_batch = batch;
  run.config.layout.dp = 1;
  run.config.layout.micro_batch = micro_batch;
  return run;
}

ModelConfig Gated(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads, int64_t vocabulary,
                  int64_t key_heads) {
  ModelConfig model;
  model.num_layers = layers;
  model.hidden_size = hidden;
  model.ffn_hidden_size = ffn;
  model.num_attention_heads = heads;
  model.num_query_groups = key_heads > 0 ? key_heads : heads;
  model.vocab_size = vocabulary;
  return model;
}

ModelConfig Llama(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads) {
  return Gated(layers, hidden, ffn, heads, 128256, 8);
}

ModelConfig Gpt(int64_t layers, int64_t hidden, int64_t heads, int64_t vocabulary) {
  ModelConfig model = Gated(layers, hidden, 4 * hidden, heads, vocabulary);
  model.activation = Activation::kGeluTanh;
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  model.max_position_embeddings = 65536;
  model.untie_embeddings_and_output_weights = false;
  return model;
}

ModelConfig Nemotron(int64_t layers, int64_t hidden, int64_t ffn, int64_t heads) {
  ModelConfig model = Gated(layers, hidden, ffn, heads, 256000, 8);
  model.activation = Activation::kSquaredRelu;
  model.normalization = Normalization::kLayerNorm;
  return model;
}

ModelConfig WithExperts(ModelConfig model, int64_t count, int64_t topk, int64_t width) {
  model.num_experts = count;
  model.moe_router_topk = topk;
  model.moe_ffn_hidden_size = width;
  return model;
}

ModelConfig WithLatentAttention(ModelConfig model) {
  model.multi_latent_attention = true;
  model.q_lora_rank = 1536;
  model.kv_lora_rank = 512;
  model.qk_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
  model.v_head_dim = 128;
  return model;
}

Cluster ClusterOf(const std::string& device, const RunSettings& run) {
  const LayoutConfig& layout = run.config.layout;
  const int64_t ranks = layout.tp * layout.cp * layout.dp * layout.pp;
  const DeviceSpec* spec = FindDeviceSpec(device);
  return {.device = spec,
          .nodes = std::max<int64_t>(ranks / run.per_node, 1),
          .per_node = run.per_node,
          .network = *FindNetwork(spec->network)};
}

}  // namespace trainyard::planner
