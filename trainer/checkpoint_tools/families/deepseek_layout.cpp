#include "trainer/checkpoint_tools/families/deepseek_layout.h"

#include <string>

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

void AddLatentAttention(const ModelConfig& model, const std::string& attention,
                        std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size, heads = model.num_attention_heads;
  const int64_t rotated = model.qk_pos_emb_head_dim, query = QueryHeadSize(model);
  const int64_t rank = model.kv_lora_rank;
  const RotaryRows of_queries{query, model.qk_head_dim, rotated};
  if (model.q_lora_rank > 0) {
    tensors->push_back(SameTensor(attention + "q_a_proj.weight", {model.q_lora_rank, hidden}));
    tensors->push_back(SameTensor(attention + "q_a_layernorm.weight", {model.q_lora_rank}));
    tensors->push_back(RotaryTensor(attention + "q_b_proj.weight",
                                    {heads * query, model.q_lora_rank}, of_queries));
  } else {
    tensors->push_back(
        RotaryTensor(attention + "q_proj.weight", {heads * query, hidden}, of_queries));
  }
  tensors->push_back(RotaryTensor(attention + "kv_a_proj_with_mqa.weight", {rank + rotated, hidden},
                                  {rank + rotated, rank, rotated}));
  tensors->push_back(SameTensor(attention + "kv_a_layernorm.weight", {rank}));
  tensors->push_back(SameTensor(attention + "kv_b_proj.weight",
                                {heads * (model.qk_head_dim + model.v_head_dim), rank}));
  tensors->push_back(SameTensor(attention + "o_proj.weight", {hidden, heads * model.v_head_dim}));
}

void AddFeedForward(const ModelConfig& model, int64_t layer, const std::string& prefix,
                    std::vector<FamilyTensor>* tensors) {
  const std::string own = prefix + "mlp.";
  if (!HasExpertsIn(layer, model)) {
    return AddMlpTensors(own, model.hidden_size, model.ffn_hidden_size, tensors);
  }
  AddExpertTensors(model, {"mlp.", "gate_proj", "up_proj", "down_proj"}, prefix, tensors);
  AddMlpTensors(own + "shared_experts.", model.hidden_size,
                model.moe_shared_expert_intermediate_size, tensors);
  if (!model.moe_router_enable_expert_bias) return;
  FamilyTensor bias = SameTensor(own + "gate.e_score_correction_bias", {model.num_experts});
  bias.keeps_type = true;  // Steps of 0.001 vanish in bf16.
  tensors->push_back(bias);
}

}  // namespace

std::vector<FamilyTensor> DeepSeekTensors(const ModelConfig& model) {
  return TensorsOfLayers(
      model,
      [&](int64_t, const std::string& prefix, std::vector<FamilyTensor>* tensors) {
        AddLatentAttention(model, prefix + "self_attn.", tensors);
      },
      [&](int64_t layer, const std::string& prefix, std::vector<FamilyTensor>* tensors) {
        AddFeedForward(model, layer, prefix, tensors);
      });
}

}  // namespace trainyard::trainer
