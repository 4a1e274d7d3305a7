#include "tests/trainer/step/layout_cases.h"

#include <iterator>

#include "tests/trainer/model/family_settings.h"

namespace trainyard::trainer {
namespace {

// Each of these functions changes one setting and returns the config, so that calls can be nested
// and a case reads like its name.
RunConfig& Tp(RunConfig& c, int64_t size) {
  c.layout.tp = size;
  return c;
}
RunConfig& Pp(RunConfig& c, int64_t stages, int64_t chunks = 1) {
  c.layout.pp = stages;
  c.layout.vpp = chunks;
  return c;
}
RunConfig& Cp(RunConfig& c, int64_t size, ContextExchange exchange = ContextExchange::kP2p) {
  c.layout.cp = size;
  c.layout.cp_comm_type = exchange;
  return c;
}
RunConfig& Dp(RunConfig& c, int64_t size, int64_t zero = 0) {
  c.layout.dp = size;
  c.layout.zero = zero;
  return c;
}
RunConfig& Layers(RunConfig& c, int64_t layers) {
  c.model.num_layers = layers;
  return c;
}
RunConfig& Recomputed(RunConfig& c, Recompute recompute, int64_t layers = 0) {
  c.layout.recompute = recompute;
  c.layout.recompute_num_layers = layers;
  return c;
}
RunConfig& Tied(RunConfig& c) {
  c.model.untie_embeddings_and_output_weights = false;
  return c;
}
RunConfig& WithoutSequenceParallel(RunConfig& c) {
  c.layout.sequence_parallel = false;
  return c;
}
RunConfig& ZeroBubble(RunConfig& c) {
  c.layout.zero_bubble = true;
  return c;
}
RunConfig& MicroBatchOf(RunConfig& c, int64_t samples) {
  c.layout.micro_batch = samples;
  return c;
}
RunConfig& Heads(RunConfig& c, int64_t queries, int64_t keys) {
  c.model.num_attention_heads = queries;
  c.model.num_query_groups = keys;
  c.model.hidden_size = 8 * queries;
  return c;
}

// Biases of queries, keys and values, and a tied head.
RunConfig& Qwen2(RunConfig& c) {
  c.model.add_qkv_bias = true;
  return Tied(c);
}
// Heads of a size other than hidden / heads, normalized heads, and a tied head.
RunConfig& Qwen3(RunConfig& c) {
  c.model.kv_channels = 12;
  c.model.qk_layernorm = true;
  return Tied(c);
}
RunConfig& LayerNorms(RunConfig& c, bool weights = true) {
  c.model.normalization = Normalization::kLayerNorm;
  c.model.norm_weights = weights;
  return c;
}
RunConfig& Llama31(RunConfig& c) {
  c.model.rope_scaling_factor = 8;
  c.model.rope_original_length = 8;
  return c;
}

// Learned positions, biases, and a tied head.
RunConfig& Gpt2(RunConfig& c) {
  MakeGpt2(c.model, /*max_positions=*/c.train.seq_length + 3);
  return c;
}
// Biases, key heads shared by several query heads, and rotary positions for half of each head.
RunConfig& Gpt3(RunConfig& c) {
  MakeGpt3_15b(c.model);
  return c;
}
// Parallel attention and feed-forward, which use the same input, and rotary positions for a quarter
// of each head.
RunConfig& GptNeox(RunConfig& c) {
  MakeGptNeox(c.model);
  return c;
}

// Four experts, two per token.
RunConfig& Mixtral(RunConfig& c) {
  c.layout.etp = 1;
  MakeMixtral(c.model);
  return c;
}
// Has a balance loss that depends on which samples are in a micro-batch. Therefore these cases use
// the same micro-batches as the single process.
RunConfig& MixtralWithAuxLoss(RunConfig& c) {
  c.model.moe_aux_loss_coeff = 0.1;
  return MicroBatchOf(Mixtral(c), 4);
}
// Eight experts in four groups with a bias, a shared expert, a dense first layer, and losses that
// depend only on the samples.
RunConfig& DeepSeek(RunConfig& c) {
  c.layout.etp = 1;
  MakeDeepSeekMoe(c.model);
  c.model.moe_router_load_balancing_type = RouterLoadBalancing::kSeqAuxLoss;
  c.model.moe_aux_loss_coeff = 0.1;
  c.model.moe_z_loss_coeff = 0.01;
  return c;
}
// Eight experts, three per token, and the other features of Qwen3.
RunConfig& Qwen3Moe(RunConfig& c) {
  c.layout.etp = 1;
  MakeQwen3Moe(c.model);
  c.model.moe_ffn_hidden_size = 32;  // Wide enough to learn in 20 steps.
  return Qwen3(c);
}

RunConfig& Capacity(RunConfig& c, double factor, TokenDropPolicy policy = TokenDropPolicy::kProbs) {
  c.model.moe_expert_capacity_factor = factor;
  c.model.moe_token_drop_policy = policy;
  return c;
}

RunConfig& Mtp(RunConfig& c, int64_t modules = 1) {
  c.model.mtp_num_layers = modules;
  c.model.mtp_loss_scaling_factor = 0.3;
  return c;
}

// Divides the experts among `size` groups of ranks, and each expert among `parts` ranks.
RunConfig& Ep(RunConfig& c, int64_t size, int64_t parts = 1) {
  c.layout.ep = size;
  c.layout.etp = parts;
  return c;
}

// Vectors of latent attention that are wide enough to learn in 20 steps.
void WidenLatents(ModelConfig& model) {
  if (model.q_lora_rank > 0) model.q_lora_rank = 24;
  model.kv_lora_rank = 24;
  model.v_head_dim = 16;
  model.moe_ffn_hidden_size = 32;
}
// DeepSeek-V3 with latent attention, YaRN, and losses that depend only on the samples.
RunConfig& DeepSeekV3(RunConfig& c) {
  DeepSeek(c);
  MakeDeepSeekV3WithYarn(c.model);
  return c;
}
// Latent attention with queries from the hidden state.
RunConfig& DeepSeekV2(RunConfig& c) {
  c.layout.etp = 1;
  MakeDeepSeekV2Lite(c.model);
  WidenLatents(c.model);
  return c;
}
// Latent attention without experts, which needs no sequence parallelism.
RunConfig& DenseLatent(RunConfig& c) {
  MakeDeepSeekV3WithYarn(c.model);
  c.model.num_experts = c.model.moe_router_topk = c.model.moe_dense_layers = 0;
  c.model.moe_router_enable_expert_bias = false;
  WidenLatents(c.model);
  return c;
}

RunConfig& Windowed(RunConfig& c, int64_t window) {
  c.model.window_size = window;
  return c;
}

// Each sample has several documents. Attention, positions and losses are separate for each
// document.
RunConfig& Packed(RunConfig& c) {
  c.data.reset_attention_mask = true;
  c.data.reset_position_ids = true;
  c.data.eod_mask_loss = true;
  c.data.eod_token = 5;
  return c;
}

constexpr ContextExchange kGather = ContextExchange::kAllGather;
constexpr ContextExchange kHeads = ContextExchange::kA2a;

// The model has a vocabulary of 61 tokens, which no group divides evenly, and two key heads for
// four query heads.
const LayoutCase kCases[] = {
    {"one process, micro-batches of 1", [](auto& c) { MicroBatchOf(c, 1); }},
    {"TP2", [](auto& c) { WithoutSequenceParallel(Tp(c, 2)); }},
    {"TP4, key heads shared", [](auto& c) { WithoutSequenceParallel(Tp(c, 4)); }},
    {"TP2+SP", [](auto& c) { Tp(c, 2); }},
    {"TP4+SP, key heads shared", [](auto& c) { Tp(c, 4); }},
    {"TP2+SP, key heads uneven", [](auto& c) { Heads(Tp(c, 2), 6, 3); }},
    {"TP3+SP, key heads uneven", [](auto& c) { Heads(Tp(c, 3), 6, 2).train.seq_length = 18; }},
    {"PP2", [](auto& c) { Pp(c, 2); }},
    {"PP4", [](auto& c) { Pp(c, 4); }},
    {"PP4, uneven stages", [](auto& c) { Layers(Pp(c, 4), 6); }},
    {"PP2 interleaved x2", [](auto& c) { Pp(c, 2, 2); }},
    {"PP4 interleaved x2", [](auto& c) { Layers(Pp(c, 4, 2), 8); }},
    {"PP2 zero-bubble", [](auto& c) { ZeroBubble(Pp(c, 2)); }},
    {"PP4 zero-bubble", [](auto& c) { ZeroBubble(Pp(c, 4)); }},
    {"PP4 interleaved x2 zero-bubble", [](auto& c) { ZeroBubble(Layers(Pp(c, 4, 2), 8)); }},
    {"PP2, two micro-batches", [](auto& c) { MicroBatchOf(Pp(c, 2), 4); }},
    {"PP4, one micro-batch", [](auto& c) { MicroBatchOf(Pp(c, 4), 8); }},
    {"tied head", [](auto& c) { Tied(c); }},
    {"tied head PP2", [](auto& c) { Tied(Pp(c, 2)); }},
    {"tied head PP2 x TP2", [](auto& c) { Tied(Tp(Pp(c, 2), 2)); }},
    {"tied head PP2 interleaved x ZeRO 2 x2", [](auto& c) { Tied(Dp(Pp(c, 2, 2), 2, 2)); }},
    {"tied head PP4 zero-bubble x ZeRO 1 x2",
     [](auto& c) { Tied(ZeroBubble(Dp(Pp(c, 4), 2, 1))); }},
    {"tied head ZeRO 3 x2", [](auto& c) { Tied(Dp(c, 2, 3)); }},
    {"DP2", [](auto& c) { Dp(c, 2); }},
    {"DP8", [](auto& c) { Dp(c, 8); }},
    {"ZeRO 1 x2", [](auto& c) { Dp(c, 2, 1); }},
    {"ZeRO 2 x2", [](auto& c) { Dp(c, 2, 2); }},
    {"ZeRO 3 x2", [](auto& c) { Dp(c, 2, 3); }},
    {"ZeRO 3 x4", [](auto& c) { Dp(c, 4, 3); }},
    {"ZeRO 1 x4, copies of 2", [](auto& c) { Dp(c, 4, 1).layout.zero_size = 2; }},
    {"ZeRO 2 x4, copies of 2", [](auto& c) { Dp(c, 4, 2).layout.zero_size = 2; }},
    {"ZeRO 3 x4, copies of 2", [](auto& c) { Dp(c, 4, 3).layout.zero_size = 2; }},
    {"CP2 ring", [](auto& c) { Cp(c, 2); }},
    {"CP2 all-gather", [](auto& c) { Cp(c, 2, kGather); }},
    {"CP4 ring", [](auto& c) { Cp(c, 4); }},
    {"CP4 all-gather", [](auto& c) { Cp(c, 4, kGather); }},
    {"CP2 heads", [](auto& c) { Cp(c, 2, kHeads); }},
    {"CP2 heads, micro-batches of 4", [](auto& c) { MicroBatchOf(Cp(c, 2, kHeads), 4); }},
    {"CP4 heads", [](auto& c) { Heads(Cp(c, 4, kHeads), 8, 4); }},
    {"CP2 chosen automatically", [](auto& c) { Cp(c, 2, ContextExchange::kAuto); }},
    {"TP2 x CP2 heads", [](auto& c) { Heads(Cp(Tp(c, 2), 2, kHeads), 8, 4); }},
    {"CP2 heads x ZeRO 3 x2", [](auto& c) { Dp(Cp(c, 2, kHeads), 2, 3); }},
    {"PP2 interleaved x CP2 heads, zero-bubble",
     [](auto& c) { ZeroBubble(Cp(Pp(c, 2, 2), 2, kHeads)); }},
    {"CP2 heads, recompute",
     [](auto& c) { Recomputed(MicroBatchOf(Cp(c, 2, kHeads), 2), Recompute::kFull); }},
    {"Qwen3, CP2 heads x ZeRO 3", [](auto& c) { Qwen3(Dp(Cp(c, 2, kHeads), 1, 3)); }},
    {"GPT-2, CP4 heads", [](auto& c) { Gpt2(Heads(Cp(c, 4, kHeads), 4, 4)); }},
    {"window, packed, CP2 heads",
     [](auto& c) { Windowed(Packed(MicroBatchOf(Cp(c, 2, kHeads), 2)), 3); }},
    {"Mixtral, capacity, CP2 heads",
     [](auto& c) { Capacity(MicroBatchOf(Mixtral(Cp(c, 2, kHeads)), 2), 0.75); }},
    {"DeepSeek-V3, CP4 heads", [](auto& c) { DeepSeekV3(Cp(c, 4, kHeads)); }},
    {"DeepSeek-V2-Lite, TP2 x CP2 heads, recompute",
     [](auto& c) { DeepSeekV2(Recomputed(Tp(Cp(c, 2, kHeads), 2), Recompute::kSelective)); }},
    {"MTP, packed, CP2 heads", [](auto& c) { Mtp(Packed(Cp(c, 2, kHeads))); }},
    {"TP2 x PP2", [](auto& c) { Pp(Tp(c, 2), 2); }},
    {"TP2 x PP2, no SP", [](auto& c) { WithoutSequenceParallel(Pp(Tp(c, 2), 2)); }},
    {"TP2 x CP2", [](auto& c) { Cp(Tp(c, 2), 2); }},
    {"TP4 x CP2, key heads shared", [](auto& c) { Cp(Tp(c, 4), 2); }},
    {"TP2 x ZeRO 3 x2", [](auto& c) { Dp(Tp(c, 2), 2, 3); }},
    {"TP2 x PP2 x DP2", [](auto& c) { Dp(Pp(Tp(c, 2), 2), 2); }},
    {"TP2 x PP2 x ZeRO 1 x2", [](auto& c) { Dp(Pp(Tp(c, 2), 2), 2, 1); }},
    {"CP2 x ZeRO 3", [](auto& c) { Dp(Cp(c, 2), 1, 3); }},
    {"CP2 x ZeRO 3 x2", [](auto& c) { Dp(Cp(c, 2), 2, 3); }},
    {"CP2 all-gather x ZeRO 2 x2", [](auto& c) { Dp(Cp(c, 2, kGather), 2, 2); }},
    {"PP2 x CP2 x TP2", [](auto& c) { Tp(Cp(Pp(c, 2), 2), 2); }},
    {"PP2 interleaved x CP2 x TP2, zero-bubble",
     [](auto& c) { ZeroBubble(Tp(Cp(Pp(c, 2, 2), 2), 2)); }},
    {"PP2 x ZeRO 2 x2", [](auto& c) { Dp(Pp(c, 2), 2, 2); }},
    {"PP2 x ZeRO 3 x2", [](auto& c) { Dp(Pp(c, 2), 2, 3); }},
    {"PP2 zero-bubble x ZeRO 2 x2", [](auto& c) { ZeroBubble(Dp(Pp(c, 2), 2, 2)); }},
    {"PP2 interleaved x ZeRO 3 x2", [](auto& c) { Dp(Pp(c, 2, 2), 2, 3); }},
    {"recompute selective, TP2 x PP2",
     [](auto& c) { Recomputed(Pp(Tp(c, 2), 2), Recompute::kSelective); }},
    {"recompute full, TP2 x PP2", [](auto& c) { Recomputed(Pp(Tp(c, 2), 2), Recompute::kFull); }},
    {"recompute full, CP2 x ZeRO 3",
     [](auto& c) { Recomputed(Dp(Cp(c, 2), 1, 3), Recompute::kFull); }},
    {"recompute full, 1 layer of 2, PP2",
     [](auto& c) { Recomputed(Pp(c, 2), Recompute::kFull, 1); }},
    {"recompute full, PP2 zero-bubble",
     [](auto& c) { Recomputed(ZeroBubble(Pp(c, 2)), Recompute::kFull); }},
    {"masked tokens", [](auto& c) { MicroBatchOf(c, 2); }, true},
    {"masked tokens, TP2 x PP2 x CP2", [](auto& c) { Cp(Pp(Tp(c, 2), 2), 2); }, true},
    {"masked tokens, ZeRO 3 x4", [](auto& c) { Dp(c, 4, 3); }, true},
    {"Qwen2.5", [](auto& c) { Qwen2(c); }},
    {"Qwen2.5, TP2 x PP2", [](auto& c) { Qwen2(Pp(Tp(c, 2), 2)); }},
    {"Qwen2.5, TP4, key heads shared", [](auto& c) { Qwen2(Tp(c, 4)); }},
    {"Qwen2.5, TP2+SP, key heads uneven", [](auto& c) { Qwen2(Heads(Tp(c, 2), 6, 3)); }},
    {"Qwen2.5, CP2 x ZeRO 3", [](auto& c) { Qwen2(Dp(Cp(c, 2), 1, 3)); }},
    {"Qwen2.5, TP2 x PP2, zero bubble, full recomputation",
     [](auto& c) { Qwen2(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"Qwen3", [](auto& c) { Qwen3(c); }},
    {"Qwen3, TP2 x PP2", [](auto& c) { Qwen3(Pp(Tp(c, 2), 2)); }},
    {"Qwen3, TP4, key heads shared", [](auto& c) { Qwen3(Tp(c, 4)); }},
    {"Qwen3, TP2+SP, key heads uneven", [](auto& c) { Qwen3(Heads(Tp(c, 2), 6, 3)); }},
    {"Qwen3, CP2 x ZeRO 3", [](auto& c) { Qwen3(Dp(Cp(c, 2), 1, 3)); }},
    {"Qwen3, recompute full, TP2 x PP2 zero-bubble",
     [](auto& c) { Qwen3(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"LayerNorm, TP2 x PP2", [](auto& c) { LayerNorms(Pp(Tp(c, 2), 2)); }},
    {"LayerNorm, TP2, no SP", [](auto& c) { LayerNorms(WithoutSequenceParallel(Tp(c, 2))); }},
    {"LayerNorm, CP2 x ZeRO 3", [](auto& c) { LayerNorms(Dp(Cp(c, 2), 1, 3)); }},
    {"OLMo, TP2 x PP2", [](auto& c) { LayerNorms(Pp(Tp(c, 2), 2), false); }},
    {"OLMo tied, PP2 x ZeRO 2 x2", [](auto& c) { LayerNorms(Tied(Dp(Pp(c, 2), 2, 2)), false); }},
    {"OLMo tied, ZeRO 3 x2", [](auto& c) { LayerNorms(Tied(Dp(c, 2, 3)), false); }},
    {"LLaMA 3.1, TP2 x CP2", [](auto& c) { Llama31(Cp(Tp(c, 2), 2)); }},
    {"GPT-2, PP2", [](auto& c) { Gpt2(Pp(c, 2)); }},
    {"GPT-2, TP2 x PP2", [](auto& c) { Gpt2(Pp(Tp(c, 2), 2)); }},
    {"GPT-2, TP2 x PP2, micro-batches of 4",
     [](auto& c) { Gpt2(MicroBatchOf(Pp(Tp(c, 2), 2), 4)); }},
    {"GPT-2, TP2, no SP", [](auto& c) { Gpt2(WithoutSequenceParallel(Tp(c, 2))); }},
    {"GPT-2, CP2 x ZeRO 3", [](auto& c) { Gpt2(Dp(Cp(c, 2), 1, 3)); }},
    {"GPT-2, TP2 x CP2 all-gather", [](auto& c) { Gpt2(Cp(Tp(c, 2), 2, kGather)); }},
    {"GPT-2, PP2 interleaved x ZeRO 2 x2", [](auto& c) { Gpt2(Dp(Pp(c, 2, 2), 2, 2)); }},
    {"GPT-2 untied, ZeRO 1 x4, copies of 2",
     [](auto& c) {
       Gpt2(Dp(c, 4, 1)).layout.zero_size = 2;
       c.model.untie_embeddings_and_output_weights = true;
     }},
    {"GPT-2, recompute selective, TP2 x PP2 zero-bubble",
     [](auto& c) { Gpt2(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kSelective)); }},
    {"GPT-2, recompute full, TP2 x PP2 zero-bubble",
     [](auto& c) { Gpt2(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"GPT-3 15B, TP2 x PP2", [](auto& c) { Gpt3(Pp(Tp(c, 2), 2)); }},
    {"GPT-3 15B, TP2, no SP", [](auto& c) { Gpt3(WithoutSequenceParallel(Tp(c, 2))); }},
    {"GPT-3 15B, TP4, key heads shared", [](auto& c) { Gpt3(Tp(c, 4)); }},
    {"GPT-3 15B, TP2, key heads uneven", [](auto& c) { Gpt3(Heads(Tp(c, 2), 6, 3)); }},
    {"GPT-3 15B, CP2 x ZeRO 3", [](auto& c) { Gpt3(Dp(Cp(c, 2), 1, 3)); }},
    {"GPT-3 15B, recompute selective, TP2 x PP2 zero-bubble",
     [](auto& c) { Gpt3(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kSelective)); }},
    {"GPT-NeoX, TP2 x PP2", [](auto& c) { GptNeox(Pp(Tp(c, 2), 2)); }},
    {"GPT-NeoX, TP2, no SP", [](auto& c) { GptNeox(WithoutSequenceParallel(Tp(c, 2))); }},
    {"GPT-NeoX, CP2 x ZeRO 3", [](auto& c) { GptNeox(Dp(Cp(c, 2), 1, 3)); }},
    {"GPT-NeoX, TP2 x PP2 zero-bubble", [](auto& c) { GptNeox(ZeroBubble(Pp(Tp(c, 2), 2))); }},
    {"GPT-NeoX, recompute selective, TP2 x PP2 zero-bubble",
     [](auto& c) { GptNeox(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kSelective)); }},
    {"GPT-NeoX, recompute full, TP2 x PP2 zero-bubble",
     [](auto& c) { GptNeox(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"LLaMA with biases, TP4, key heads shared",
     [](auto& c) { Tp(c, 4).model.add_bias_linear = true; }},
    {"LLaMA with biases, TP2 x PP2", [](auto& c) { Pp(Tp(c, 2), 2).model.add_bias_linear = true; }},
    {"window, TP2 x PP2", [](auto& c) { Windowed(Pp(Tp(c, 2), 2), 3); }},
    {"window, CP2 ring", [](auto& c) { Windowed(Cp(c, 2), 3); }},
    {"window, CP4 ring, parts unseen", [](auto& c) { Windowed(Cp(c, 4), 3); }},
    {"window, CP4 all-gather x ZeRO 3", [](auto& c) { Windowed(Dp(Cp(c, 4, kGather), 1, 3), 3); }},
    {"window of 7, CP4 ring", [](auto& c) { Windowed(Cp(c, 4), 7); }},
    {"packed, micro-batches of 1", [](auto& c) { Packed(MicroBatchOf(c, 1)); }},
    {"packed, TP2 x PP2", [](auto& c) { Packed(Pp(Tp(c, 2), 2)); }},
    {"packed, CP2 ring", [](auto& c) { Packed(MicroBatchOf(Cp(c, 2), 2)); }},
    {"packed, CP2 all-gather", [](auto& c) { Packed(Cp(c, 2, kGather)); }},
    {"packed, ZeRO 3 x2", [](auto& c) { Packed(Dp(c, 2, 3)); }},
    {"packed, recompute full, TP2 x PP2",
     [](auto& c) { Packed(Recomputed(Pp(Tp(c, 2), 2), Recompute::kFull)); }},
    {"packed, window, CP2 x TP2 x PP2",
     [](auto& c) { Windowed(Packed(Pp(Tp(Cp(c, 2), 2), 2)), 3); }},
    {"Mixtral, micro-batches of 1", [](auto& c) { Mixtral(c); }},
    {"Mixtral, TP2+SP", [](auto& c) { Mixtral(Tp(c, 2)); }},
    {"Mixtral, TP4+SP x PP2", [](auto& c) { Mixtral(Pp(Tp(c, 4), 2)); }},
    {"Mixtral, recompute selective, CP2 ring",
     [](auto& c) { Mixtral(Recomputed(Cp(c, 2), Recompute::kSelective)); }},
    {"Mixtral, PP2 zero-bubble", [](auto& c) { Mixtral(ZeroBubble(Pp(c, 2))); }},
    {"Mixtral, ZeRO 3 x4", [](auto& c) { Mixtral(Dp(c, 4, 3)); }},
    {"Mixtral, aux loss, DP2", [](auto& c) { MixtralWithAuxLoss(Dp(c, 2)); }},
    {"Mixtral, aux loss, CP2 x TP2 x PP2",
     [](auto& c) { MixtralWithAuxLoss(Pp(Tp(Cp(c, 2), 2), 2)); }},
    {"DeepSeek experts, micro-batches of 1", [](auto& c) { DeepSeek(c); }},
    {"DeepSeek experts, TP2 x PP2, 2 chunks", [](auto& c) { DeepSeek(Pp(Tp(c, 2), 2, 2)); }},
    {"DeepSeek experts, recompute full, TP2 x PP2 zero-bubble",
     [](auto& c) { DeepSeek(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"DeepSeek experts, CP2 all-gather x TP2", [](auto& c) { DeepSeek(Tp(Cp(c, 2, kGather), 2)); }},
    {"DeepSeek experts, ZeRO 1 x2, TP2", [](auto& c) { DeepSeek(Tp(Dp(c, 2, 1), 2)); }},
    {"DeepSeek experts, ZeRO 2 x2", [](auto& c) { DeepSeek(Dp(c, 2, 2)); }},
    {"DeepSeek experts, masked, DP2", [](auto& c) { DeepSeek(Dp(c, 2)); }, true},
    {"Qwen3-MoE, TP2 x PP2, ZeRO 3 x2", [](auto& c) { Qwen3Moe(Pp(Tp(Dp(c, 2, 3), 2), 2)); }},
    {"Mixtral, EP2", [](auto& c) { Ep(Mixtral(Dp(c, 2)), 2); }},
    {"Mixtral, EP4", [](auto& c) { Ep(Mixtral(Dp(c, 4)), 4); }},
    {"Mixtral, aux loss, EP2 x DP2", [](auto& c) { Ep(MixtralWithAuxLoss(Dp(c, 2)), 2); }},
    {"Mixtral, EP2 x DP4", [](auto& c) { Ep(Mixtral(Dp(c, 4)), 2); }},
    {"Mixtral, EP2 within TP2+SP", [](auto& c) { Ep(Mixtral(Tp(c, 2)), 2); }},
    {"Mixtral, EP4 over TP2+SP x DP2", [](auto& c) { Ep(Mixtral(Tp(Dp(c, 2), 2)), 4); }},
    {"Mixtral, ETP2 in TP2+SP", [](auto& c) { Ep(Mixtral(Tp(c, 2)), 1, 2); }},
    {"Mixtral, ETP2 x EP2, TP2+SP x DP2", [](auto& c) { Ep(Mixtral(Tp(Dp(c, 2), 2)), 2, 2); }},
    {"Mixtral, EP2 within CP2 ring", [](auto& c) { Ep(Mixtral(Cp(c, 2)), 2); }},
    {"Mixtral, EP4 over CP2 x TP2+SP, PP2",
     [](auto& c) { Ep(Mixtral(Pp(Tp(Cp(c, 2), 2), 2)), 4); }},
    {"Mixtral, EP2, PP2 interleaved zero-bubble",
     [](auto& c) { Ep(Mixtral(ZeroBubble(Pp(Dp(c, 2), 2, 2))), 2); }},
    {"Mixtral, EP2 x ZeRO 1 x4", [](auto& c) { Ep(Mixtral(Dp(c, 4, 1)), 2); }},
    {"Mixtral, EP2 x ZeRO 2 x4", [](auto& c) { Ep(Mixtral(Dp(c, 4, 2)), 2); }},
    {"Mixtral, EP2 x ZeRO 3 x4", [](auto& c) { Ep(Mixtral(Dp(c, 4, 3)), 2); }},
    {"Mixtral, EP2 x ZeRO 3 x4, TP2+SP", [](auto& c) { Ep(Mixtral(Tp(Dp(c, 4, 3), 2)), 2); }},
    {"Mixtral, EP4 over TP2+SP x ZeRO 1 x2", [](auto& c) { Ep(Mixtral(Tp(Dp(c, 2, 1), 2)), 4); }},
    {"Mixtral, recompute selective, EP2",
     [](auto& c) { Ep(Mixtral(Recomputed(Dp(c, 2), Recompute::kSelective)), 2); }},
    {"DeepSeek experts, EP4 over TP2+SP x DP2", [](auto& c) { Ep(DeepSeek(Tp(Dp(c, 2), 2)), 4); }},
    {"DeepSeek experts, EP8 over CP2 x DP4", [](auto& c) { Ep(DeepSeek(Dp(Cp(c, 2), 4)), 8); }},
    {"DeepSeek experts, recompute full, EP2 x TP2 x PP2",
     [](auto& c) { Ep(DeepSeek(Recomputed(Pp(Tp(c, 2), 2), Recompute::kFull)), 2); }},
    {"DeepSeek experts, masked, EP2", [](auto& c) { Ep(DeepSeek(Dp(c, 2)), 2); }, true},
    {"Mixtral, EP4 by all-gather",
     [](auto& c) {
       Ep(Mixtral(Dp(c, 4)), 4).layout.moe_token_dispatcher_type = TokenDispatcher::kAllgather;
     }},
    {"Qwen3-MoE, EP2 by all-to-all",
     [](auto& c) {
       Ep(Qwen3Moe(Dp(c, 2)), 2).layout.moe_token_dispatcher_type = TokenDispatcher::kAlltoall;
     }},
    {"Qwen3-MoE, EP2 by all-gather", [](auto& c) { Ep(Qwen3Moe(Dp(c, 2)), 2); }},
    {"Qwen3-MoE, EP2 by all-gather, TP2+SP x PP2 x ZeRO 3 x2",
     [](auto& c) { Ep(Qwen3Moe(Pp(Tp(Dp(c, 2, 3), 2), 2)), 2); }},
    {"Qwen3-MoE, ETP2 x EP2 by all-gather", [](auto& c) { Ep(Qwen3Moe(Tp(Dp(c, 2), 2)), 2, 2); }},
    {"Mixtral, capacity, micro-batches of 1", [](auto& c) { Capacity(Mixtral(c), 0.75); }},
    {"Mixtral, capacity, CP2 x TP2 x PP2, micro-batches of 2",
     [](auto& c) { Capacity(MicroBatchOf(Mixtral(Pp(Tp(Cp(c, 2), 2), 2)), 2), 0.75); }},
    {"Mixtral, capacity, EP4 over TP2+SP x DP2",
     [](auto& c) { Capacity(Ep(Mixtral(Tp(Dp(c, 2), 2)), 4), 0.75); }},
    {"Qwen3-MoE, one token per expert, TP2 x ZeRO 3 x2",
     [](auto& c) { Capacity(Qwen3Moe(Tp(Dp(c, 2, 3), 2)), 0.001); }},
    {"Qwen3-MoE, capacity, EP2 by all-gather",
     [](auto& c) { Capacity(Ep(Qwen3Moe(Dp(c, 2)), 2), 0.75); }},
    {"DeepSeek experts, capacity by position, recompute full, CP2 all-gather x TP2",
     [](auto& c) {
       Capacity(DeepSeek(Recomputed(Tp(Cp(c, 2, kGather), 2), Recompute::kFull)), 0.75,
                TokenDropPolicy::kPosition);
     }},
    {"DeepSeek-V3, micro-batches of 1", [](auto& c) { DeepSeekV3(MicroBatchOf(c, 1)); }},
    {"DeepSeek-V3, TP2 x PP2", [](auto& c) { DeepSeekV3(Pp(Tp(c, 2), 2)); }},
    {"DeepSeek-V3, TP4+SP", [](auto& c) { DeepSeekV3(Tp(c, 4)); }},
    {"DeepSeek-V3, CP2 ring", [](auto& c) { DeepSeekV3(Cp(c, 2)); }},
    {"DeepSeek-V3, CP2 all-gather x TP2", [](auto& c) { DeepSeekV3(Tp(Cp(c, 2, kGather), 2)); }},
    {"DeepSeek-V3, CP4 ring", [](auto& c) { DeepSeekV3(Cp(c, 4)); }},
    {"DeepSeek-V3, ZeRO 3 x2", [](auto& c) { DeepSeekV3(Dp(c, 2, 3)); }},
    {"DeepSeek-V3, recompute selective, TP2 x CP2",
     [](auto& c) { DeepSeekV3(Recomputed(Cp(Tp(c, 2), 2), Recompute::kSelective)); }},
    {"DeepSeek-V3, recompute full, TP2 x PP2 zero-bubble",
     [](auto& c) { DeepSeekV3(Recomputed(ZeroBubble(Pp(Tp(c, 2), 2)), Recompute::kFull)); }},
    {"DeepSeek-V2-Lite, TP2 x PP2", [](auto& c) { DeepSeekV2(Pp(Tp(c, 2), 2)); }},
    {"DeepSeek-V2-Lite, CP2 ring x TP2, recompute selective",
     [](auto& c) { DeepSeekV2(Recomputed(Tp(Cp(c, 2), 2), Recompute::kSelective)); }},
    {"latent attention, TP2, no SP",
     [](auto& c) { DenseLatent(WithoutSequenceParallel(Tp(c, 2))); }},
    {"latent attention, TP4 x ZeRO 1 x2", [](auto& c) { DenseLatent(Tp(Dp(c, 2, 1), 4)); }},
    {"latent attention, window, CP4 ring", [](auto& c) { DenseLatent(Windowed(Cp(c, 4), 3)); }},
    {"latent attention, packed, CP2 all-gather x TP2",
     [](auto& c) { DenseLatent(Packed(Tp(Cp(c, 2, kGather), 2))); }},
    {"MTP of 2, micro-batches of 1", [](auto& c) { Mtp(MicroBatchOf(c, 1), 2); }},
    {"MTP, TP2, no SP", [](auto& c) { Mtp(WithoutSequenceParallel(Tp(c, 2))); }},
    {"MTP of 2, TP2+SP x PP2", [](auto& c) { Mtp(Pp(Tp(c, 2), 2), 2); }},
    {"MTP tied, PP2 interleaved x ZeRO 2 x2", [](auto& c) { Mtp(Tied(Dp(Pp(c, 2, 2), 2, 2))); }},
    {"MTP of 2, CP2 x TP2", [](auto& c) { Mtp(Cp(Tp(c, 2), 2), 2); }},
    {"MTP, PP2 zero-bubble x ZeRO 1 x2", [](auto& c) { Mtp(ZeroBubble(Dp(Pp(c, 2), 2, 1))); }},
    {"MTP of 2, ZeRO 3 x2", [](auto& c) { Mtp(Dp(c, 2, 3), 2); }},
    {"MTP, recompute full, PP2 x ZeRO 3 x2",
     [](auto& c) { Mtp(Recomputed(Dp(Pp(c, 2), 2, 3), Recompute::kFull)); }},
    {"MTP, packed, CP2 x PP2", [](auto& c) { Mtp(Packed(Pp(Cp(c, 2), 2))); }},
    {"MTP, DeepSeek experts, TP2 x PP2", [](auto& c) { Mtp(DeepSeek(Pp(Tp(c, 2), 2))); }},
    {"MTP, DeepSeek experts, EP2 x ZeRO 3",
     [](auto& c) { Mtp(Ep(DeepSeek(Dp(c, 2, 3)), 2)); }},
    {"MTP of 2, masked, DP2", [](auto& c) { Mtp(Dp(c, 2), 2); }, true},
    {"packed and masked, DP2", [](auto& c) { Packed(Dp(c, 2)); }, true},
};

}  // namespace

std::vector<LayoutCase> LayoutCases() { return {std::begin(kCases), std::end(kCases)}; }

}  // namespace trainyard::trainer
