#include "proto/memory/block_memory.h"

#include <algorithm>

#include "proto/layout/layout_parts.h"
#include "proto/model/expert_capacity.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/planned_features.h"

namespace trainyard {
namespace {

// The number of rows of logits that a GPU computes at a time (CrossEntropyRowsPerChunk).
constexpr double kHeadRows = 8192;

// True if the run does not use fused attention. Latent attention and FP8 are assumed to use it.
bool IsManual(const RunConfig& config) {
  return HasTrainableFeatures(config) && AttentionBackendOf(config) == AttentionBackend::kManual;
}

// Returns the bytes of the softmax results that are kept for the backward pass. Manual attention
// without context parallelism keeps all attention weights. Otherwise attention keeps only the
// logarithm of the sum of each row.
double SoftmaxBytes(const RunConfig& config, double rows, double heads) {
  const bool keeps_sums = !IsManual(config) || config.layout.cp > 1;
  const double columns = keeps_sums ? 1 : static_cast<double>(config.train.seq_length);
  return rows * heads * columns * kFloatBytes;
}

// Returns the bytes that cuDNN's backward pass needs (kernels/attention.h):
// - the sums of the rows;
// - the gradients of keys and values for each query head, if query heads share keys and values;
// - the bf16 scores if the result must be deterministic, otherwise the fp32 gradient of the
//   queries.
double FusedAttentionBytes(const RunConfig& config, double rows, double heads) {
  const ModelConfig& model = config.model;
  const auto queries = heads * static_cast<double>(HeadSize(model));
  const bool shares = model.num_query_groups < model.num_attention_heads;
  const double keys = static_cast<double>(config.train.seq_length / config.layout.cp);
  const double own =
      config.train.deterministic ? 2 * rows * heads * keys : rows * queries * kFloatBytes;
  return own + rows * heads * kFloatBytes + (shares ? 2 * rows * queries * 2 : 0);
}

// Returns the bytes for context parallelism, ring or gathered (model/context_attention.cpp):
// - the keys and values of the ranks in use: all ranks if gathered, two in a ring;
// - an fp32 gradient for each of these keys and values;
// - the gradient of the queries in fp32 and in the run's precision.
double ContextAttentionBytes(const RunConfig& config, const BlockTensors& tensors) {
  if (config.layout.cp == 1) return 0;
  const double key_values = tensors.packed_heads - tensors.queries;
  const double wide = kFloatBytes / BytesOf(config.train.precision);
  const bool gathers = config.layout.cp_comm_type == ContextExchange::kAllGather;
  const double copies = gathers ? static_cast<double>(config.layout.cp) : 2;
  return copies * key_values * (1 + wide) + (1 + wide) * tensors.queries;
}

// Returns the bytes that the backward pass without the fused kernel needs (ops/attention.cpp): the
// gradients of attention weights and scores, the stacked heads of each group, and one result. In
// bf16 runs all of these are fp32. With context parallelism in bf16, a sample is computed in parts,
// and the attention weights are recomputed for one part at a time (ops/attention_part.cpp).
double PlainAttentionBytes(const RunConfig& config, const BlockTensors& tensors, double heads) {
  const double wide = kFloatBytes / BytesOf(config.train.precision);
  const double part = static_cast<double>(config.train.seq_length / config.layout.cp);
  const bool has_parts = wide > 1 && config.layout.cp > 1;
  const double weights =
      has_parts ? 2 * tensors.rows * heads * part * kFloatBytes : tensors.softmax;
  return 2 * weights + wide * (tensors.packed_heads + 2 * tensors.queries);
}

// Sets the sizes that depend on the heads, except for latent attention.
void SetHeads(const RunConfig& config, double row_bytes, BlockTensors& tensors) {
  const ModelConfig& model = config.model;
  const HeadPlace heads =
      HeadsOf(model.num_attention_heads, model.num_query_groups, config.layout.tp, 0);
  const auto queries = static_cast<double>(heads.queries.length);
  const double head_bytes = row_bytes * static_cast<double>(HeadSize(model));
  tensors.queries = tensors.result = head_bytes * queries;
  tensors.packed_heads = tensors.queries + 2 * head_bytes * static_cast<double>(heads.key_slots);
  tensors.softmax = SoftmaxBytes(config, tensors.rows, queries);
  const auto normed = queries + static_cast<double>(heads.keys.length);
  tensors.head_norms = model.qk_layernorm ? normed * (head_bytes + tensors.rows * kFloatBytes) : 0;
  tensors.attention = IsManual(config) ? PlainAttentionBytes(config, tensors, queries)
                                       : FusedAttentionBytes(config, tensors.rows, queries);
  tensors.attention += ContextAttentionBytes(config, tensors);
}

// Sets the sizes of latent attention (model/latent_attention.cpp). Its heads are the queries, the
// keys, and the product that contains the unrotated elements of keys and the values.
void SetLatentHeads(const RunConfig& config, double row_bytes, double between,
                    BlockTensors& tensors) {
  const ModelConfig& model = config.model;
  const auto heads =
      static_cast<double>(PartOf(model.num_attention_heads, config.layout.tp, 0).length);
  tensors.queries = row_bytes * heads * static_cast<double>(QueryHeadSize(model));
  tensors.result = row_bytes * heads * static_cast<double>(model.v_head_dim);
  tensors.packed_heads =
      2 * tensors.queries +
      row_bytes * heads * static_cast<double>(model.qk_head_dim + model.v_head_dim);
  tensors.softmax = tensors.rows * heads * kFloatBytes;
  const auto ranks = static_cast<double>(model.q_lora_rank + model.kv_lora_rank);
  const double norms = model.q_lora_rank > 0 ? 2 : 1;
  tensors.lower_rank = between * row_bytes * ranks;
  tensors.lower_norms = tensors.lower_rank + between * tensors.rows * norms * kFloatBytes;
  tensors.shared_keys = between * row_bytes * static_cast<double>(model.qk_pos_emb_head_dim);
}

// Returns the largest possible number of rows at the experts of one rank, relative to the number
// that this rank sends. Each sample sends at most ExpertCapacity rows to an expert, and each token
// at most one. Returns 1 without a capacity: all experts are assumed to receive equally many rows.
double RowsAtExperts(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  if (!HasExpertCapacity(model)) return 1;
  const auto experts = static_cast<double>(model.num_experts);
  const auto topk = static_cast<double>(model.moe_router_topk);
  const auto ranks = static_cast<double>(layout.ep);  // They send rows to the same experts.
  const auto sharing = static_cast<double>(layout.cp * (HasWholeExperts(layout) ? layout.tp : 1));
  const auto tokens = static_cast<double>(config.train.seq_length);
  const double capacity = static_cast<double>(ExpertCapacity(model, config.train.seq_length));
  const double of_samples = std::max(sharing / ranks, 1.0) * capacity * experts / (topk * tokens);
  return std::min(of_samples, ranks * std::min(1.0, experts / ranks / topk));
}

void SetExperts(const RunConfig& config, double row_bytes, double between, BlockTensors& tensors) {
  const ModelConfig& model = config.model;
  const auto topk = static_cast<double>(model.moe_router_topk);
  const auto tensor_ranks = static_cast<double>(config.layout.tp);
  const bool is_whole = HasWholeExperts(config.layout);
  const double copies =
      RowsAtExperts(config) * topk * (is_whole ? row_bytes / tensor_ranks : row_bytes);
  ExpertTensors& experts = tensors.experts;
  experts.sent = topk * row_bytes / tensor_ranks * static_cast<double>(model.hidden_size);
  experts.row_bytes = copies * static_cast<double>(model.hidden_size);
  experts.activation =
      copies * static_cast<double>(ExpertWidth(model)) / (is_whole ? 1 : tensor_ranks);
  experts.packed_up = (HasGate(model) ? 2 : 1) * experts.activation;
  experts.router_scores =
      between * tensors.rows * static_cast<double>(model.num_experts) * kFloatBytes;
}

double FeedForwardPart(const RunConfig& config, BlockKind kind) {
  const int64_t tp = config.layout.tp;
  if (kind == BlockKind::kDense) {
    return static_cast<double>(PartOf(config.model.ffn_hidden_size, tp, 0).length);
  }
  return static_cast<double>(config.model.moe_shared_expert_intermediate_size) /
         static_cast<double>(tp);
}

// Returns the working memory of dense bf16 runs, for which measurements confirm the formula. It
// contains the gradients of the block's result and input, and the recomputed result of the norm.
// With sequence parallelism, it also contains the other ranks' rows of these three tensors.
double MeasuredWorking(const BlockTensors& tensors, const KeptBytes& kept, bool is_selective) {
  const double again = is_selective ? 1 : 0;
  const double mlp =
      (2 + again) * tensors.stream + 3 * tensors.gathered + (1 + again) * tensors.activation;
  // The sum contains the gradients of the block's result and of the attention's result, and the
  // recomputed result of the norm. The tensors that the feed-forward half kept are already free, so
  // they are subtracted.
  const double attention = (2 + again) * tensors.stream + 2 * tensors.gathered + tensors.queries +
                           tensors.packed_heads + std::max(tensors.attention, tensors.all_rows) -
                           kept.mlp;
  return std::max(mlp, attention);
}

// Returns an estimate for runs with experts, latent attention or FP8, which have not been measured.
// It contains the gradients of a block's result and of its widest product, the gradients of the
// rows at the experts, and the send buffers of those gradients.
double EstimatedWorking(const BlockTensors& tensors) {
  const ExpertTensors& experts = tensors.experts;
  return 3 * tensors.all_rows +
         std::max(tensors.packed_heads + tensors.queries, tensors.packed_up + tensors.activation) +
         2 * experts.row_bytes + experts.packed_up + experts.activation + 2 * experts.sent;
}

}  // namespace

double BytesOf(Precision precision) { return precision == Precision::kFp32 ? 4 : 2; }

BlockTensors TensorsOf(const RunConfig& config, BlockKind kind) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const bool splits_rows = layout.tp > 1 && layout.sequence_parallel;
  BlockTensors tensors;
  tensors.rows = static_cast<double>(layout.micro_batch) *
                 static_cast<double>(config.train.seq_length / layout.cp);
  const double row_bytes = tensors.rows * BytesOf(config.train.precision);
  const double between = splits_rows ? 1.0 / static_cast<double>(layout.tp) : 1;
  tensors.all_rows = row_bytes * static_cast<double>(model.hidden_size);
  tensors.stream = between * tensors.all_rows;
  tensors.middle = model.parallel_residual ? 0 : tensors.stream;
  tensors.gathered = splits_rows ? tensors.all_rows : 0;
  const double statistics = model.normalization == Normalization::kLayerNorm ? 2 : 1;
  tensors.inverse_rms = statistics * between * tensors.rows * kFloatBytes;
  if (HasLatentAttention(model)) {
    SetLatentHeads(config, row_bytes, between, tensors);
  } else {
    SetHeads(config, row_bytes, tensors);
  }
  tensors.activation = row_bytes * FeedForwardPart(config, kind);
  tensors.packed_up = (HasGate(model) ? 2 : 1) * tensors.activation;
  tensors.input_part = HasFp8(config.train) ? 0.5 : 1;
  if (kind == BlockKind::kExpert) SetExperts(config, row_bytes, between, tensors);
  return tensors;
}

// Returns the bytes of the tensors that model/block.cpp, attention.cpp and mlp.cpp keep. With
// selective recomputation, the results of the norms and of the activation are not kept. Latent
// attention then keeps only the vectors of lower rank.
KeptBytes KeptByBlock(const RunConfig& config, const BlockTensors& tensors, Recompute recompute) {
  if (recompute == Recompute::kFull) return {.attention = tensors.stream};
  const bool is_selective = recompute == Recompute::kSelective;
  const double again = is_selective ? 0 : tensors.input_part;
  const double norm = tensors.inverse_rms + again * tensors.stream;
  const bool repeats_heads = is_selective && HasLatentAttention(config.model);
  const double heads =
      repeats_heads ? tensors.shared_keys : tensors.packed_heads + tensors.lower_norms;
  const ExpertTensors& experts = tensors.experts;
  return {
      .attention = tensors.stream + norm + heads + tensors.softmax +
                   tensors.input_part * tensors.result + tensors.head_norms + tensors.lower_rank,
      .mlp = tensors.middle + norm + tensors.packed_up + again * tensors.activation +
             experts.router_scores,
      .dispatch =
          tensors.input_part * experts.row_bytes + experts.packed_up + again * experts.activation};
}

double BlockWorking(const RunConfig& config, const BlockTensors& tensors) {
  const Recompute recompute = config.layout.recompute;
  const bool is_measured = HasTrainableFeatures(config);
  const KeptBytes plain = KeptByBlock(config, tensors, Recompute::kNone);
  // Full recomputation keeps only the block's input, and recomputes from it everything that the
  // block would otherwise have kept.
  const double made_again = recompute == Recompute::kFull ? plain.OfBlock() + plain.dispatch -
                                                                (is_measured ? tensors.stream : 0)
                                                          : 0;
  if (!is_measured) return made_again + EstimatedWorking(tensors);
  const bool is_selective = recompute == Recompute::kSelective;
  const KeptBytes kept = is_selective ? KeptByBlock(config, tensors, recompute) : plain;
  return made_again + MeasuredWorking(tensors, kept, is_selective);
}

double HeadWorking(const RunConfig& config, const BlockTensors& tensors) {
  const auto vocabulary =
      static_cast<double>(PartOf(config.model.vocab_size, config.layout.tp, 0).length);
  const double logits =
      std::min(tensors.rows, kHeadRows) * vocabulary * BytesOf(config.train.precision);
  return 3 * tensors.stream + 2 * tensors.gathered + logits;
}

}  // namespace trainyard
