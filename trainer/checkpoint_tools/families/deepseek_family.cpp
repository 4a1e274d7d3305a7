#include "trainer/checkpoint_tools/families/deepseek_family.h"

#include <utility>

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/deepseek_keys.h"
#include "trainer/checkpoint_tools/families/deepseek_layout.h"

namespace trainyard::trainer {
namespace {

int64_t None(const ModelConfig&) { return 0; }
int64_t OneGroup(const ModelConfig&) { return 1; }

// The keys that both families have. For the norms of the vectors of lower rank, transformers uses
// 1e-6 instead of rms_norm_eps, so rms_norm_eps must be 1e-6.
std::vector<MappedKey> SharedKeys(std::vector<MappedKey> more) {
  std::vector<MappedKey> keys = {
      {"num_hidden_layers", "num_layers"},
      {"hidden_size", "hidden_size"},
      {"intermediate_size", "ffn_hidden_size"},
      {"moe_intermediate_size", "moe_ffn_hidden_size", "", {}, ExpertWidth},
      {"num_attention_heads", "num_attention_heads"},
      {"num_key_value_heads", "num_query_groups", "null"},
      {"vocab_size", "vocab_size"},
      {"n_shared_experts", "moe_shared_expert_intermediate_size", "", {}, None},
      {"first_k_dense_replace", "moe_dense_layers", "null", {}, None},
      {"q_lora_rank", "q_lora_rank", "null", {}, None},
      {"kv_lora_rank", "kv_lora_rank", "512"},
      {"qk_nope_head_dim", "qk_head_dim", "128"},
      {"qk_rope_head_dim", "qk_pos_emb_head_dim", "64"},
      {"v_head_dim", "v_head_dim", "128"},
      {"rope_theta", "rotary_base", "10000.0"},
      {"rope_scaling.rope_type",
       "rope_scaling_type",
       "null",
       {{"\"yarn\"", "\"yarn\""}, {"\"default\"", "\"llama3\""}}},
      {"rope_scaling.factor", "rope_scaling_factor", "null"},
      {"rope_scaling.original_max_position_embeddings", "rope_original_length", "null"},
      {"rope_scaling.beta_fast", "rope_beta_fast", "null"},
      {"rope_scaling.beta_slow", "rope_beta_slow", "null"},
      {"rope_scaling.mscale", "rope_mscale", "null"},
      {"rope_scaling.mscale_all_dim", "rope_mscale_all_dim", "null"},
      {"rms_norm_eps", "norm_epsilon", "1e-6", {{"1e-6", "1e-6"}}},
      {"tie_word_embeddings",
       "untie_embeddings_and_output_weights",
       "false",
       {{"true", "false"}, {"false", "true"}}}};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

// Returns keys that do not affect the arithmetic, and `more`. The keys describe other sizes of
// heads, losses that balance experts, a module that predicts further tokens, and the program that
// loads the model.
std::vector<const char*> KeysWithoutEffect(std::vector<const char*> more) {
  std::vector<const char*> keys = {"head_dim",
                                   "qk_head_dim",
                                   "aux_loss_alpha",
                                   "seq_aux",
                                   "num_nextn_predict_layers",
                                   "ep_size",
                                   "auto_map",
                                   "pretraining_tp",
                                   "output_router_logits",
                                   "quantization_config"};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

// An absent key has the default of DeepseekV2Config in transformers. Groups have no effect with
// greedy routing.
const ModelFamily kDeepSeekV2 = {
    .architecture = "DeepseekV2ForCausalLM",
    .model_type = "deepseek_v2",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = SharedKeys({{"n_routed_experts", "num_experts", "64"},
                          {"num_experts_per_tok", "moe_router_topk"},
                          {"routed_scaling_factor", "moe_router_topk_scaling_factor", "1.0"}}),
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"mlp_bias", "false"},
              {"norm_topk_prob", "false"},
              {"topk_method", "\"greedy\""},
              {"scoring_func", "\"softmax\""},
              {"moe_layer_freq", "1"}},
    .settings = {{"multi_latent_attention", "true"}, {"moe_norm_topk_prob", "false"}},
    .dropouts = {"attention_dropout"},
    .without_effect = KeysWithoutEffect({"n_group", "topk_group"}),
    .complete = CompleteDeepSeekV2,
    .finish = FinishDeepSeek,
    .tensors = DeepSeekTensors,
};

// An absent key has the default of DeepseekV3Config in transformers.
const ModelFamily kDeepSeekV3 = {
    .architecture = "DeepseekV3ForCausalLM",
    .model_type = "deepseek_v3",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = SharedKeys({{"n_routed_experts", "num_experts", "256"},
                          {"num_experts_per_tok", "moe_router_topk", "8"},
                          {"n_group", "moe_router_num_groups", "null", {}, OneGroup},
                          {"topk_group", "moe_router_group_topk", "null", {}, OneGroup},
                          {"norm_topk_prob", "moe_norm_topk_prob", "true"},
                          {"routed_scaling_factor", "moe_router_topk_scaling_factor", "2.5"}}),
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"rope_interleave", "true"},
              {"topk_method", "\"noaux_tc\""},
              {"scoring_func", "\"sigmoid\""},
              {"moe_layer_freq", "1"}},
    .settings = {{"multi_latent_attention", "true"},
                 {"moe_router_score_function", "\"sigmoid\""},
                 {"moe_router_enable_expert_bias", "true"}},
    .dropouts = {"attention_dropout"},
    .without_effect = KeysWithoutEffect({}),
    .skips_later_layers = true,
    .complete = CompleteDeepSeekV3,
    .finish = FinishDeepSeek,
    .tensors = DeepSeekTensors,
};

}  // namespace

const ModelFamily& DeepSeekV2Family() { return kDeepSeekV2; }
const ModelFamily& DeepSeekV3Family() { return kDeepSeekV3; }

}  // namespace trainyard::trainer
