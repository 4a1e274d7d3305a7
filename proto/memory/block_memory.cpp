#include "proto/memory/block_memory.h"

#include <algorithm>

#include "proto/layout/layout_parts.h"
#include "proto/layout/rank_order.h"
#include "proto/memory/attention_call.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/expert_dispatch.h"
#include "proto/rules/fp8_products.h"

namespace trainyard {
namespace {

// The number of rows of logits that a GPU computes at a time (CrossEntropyRowsPerChunk).
constexpr double kHeadRows = 8192;

constexpr double kIndexBytes = 8;

// True if the run does not use fused attention.
bool IsManual(const RunConfig& config) {
  return AttentionBackendOf(config) == AttentionBackend::kManual;
}

// The block-wise recipe, which trainyard-trainer does not have, is assumed to keep inputs in FP8.
// The other recipes keep inputs in train.precision and cast them again in the backward pass.
bool KeepsFp8Inputs(const RunConfig& config) { return config.train.fp8 == Fp8Recipe::kBlock; }

// Sets the sizes of FP8 copies (model/parallel_linear.cpp). First there are two copies of a
// gradient, then one copy of the gradient and one of the input, each of half the size of a 16-bit
// tensor.
void SetFp8Copies(const RunConfig& config, BlockKind kind, BlockTensors& tensors) {
  const Fp8Matrices uses = Fp8MatricesOf(config, kind);
  const double narrow = 1 / BytesOf(config.train.precision);  // Bytes of FP8, relative.
  const auto copies = [&](BlockMatrix matrix, double gradient, double input) {
    const bool is_used = uses[static_cast<int64_t>(matrix)];
    return is_used ? narrow * (gradient + std::max(gradient, input)) : 0;
  };
  const double rows = tensors.all_rows;
  tensors.attention_copies =
      std::max(copies(BlockMatrix::kQueryKeyValue, tensors.packed_heads, rows),
               copies(BlockMatrix::kAttentionOutput, rows, tensors.result));
  tensors.mlp_copies = std::max(copies(BlockMatrix::kUp, tensors.packed_up, rows),
                                copies(BlockMatrix::kDown, rows, tensors.activation));
}

// Returns the bytes of the softmax results that are kept for the backward pass. Manual attention
// without context parallelism keeps all attention weights. All other attention keeps only the
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
  const auto queries = heads * static_cast<double>(QueryHeadSize(model));
  const bool shares = model.num_query_groups < model.num_attention_heads;
  const AttentionCall call = LargestCallOf(config);
  const double own =
      config.train.deterministic ? 2 * call.scores : call.share * rows * queries * kFloatBytes;
  return own + call.share * (rows * heads * kFloatBytes + (shares ? 2 * rows * queries * 2 : 0));
}

// Returns the bytes for the exchange of heads (model/exchanged_attention.cpp): the gradients of the
// results and of the heads for whole samples, and the copies that are sent or received. Latent
// attention does not keep the heads and the results of whole samples, so it exchanges them again.
double ExchangedAttentionBytes(const RunConfig& config, const BlockTensors& tensors) {
  const auto ranks = static_cast<double>(config.layout.cp);
  const double passes = HasLatentAttention(config.model) ? 2 : 1;
  return passes * (1 + (ranks - 1) / ranks) * (tensors.packed_heads + tensors.result);
}

// Returns the bytes for context parallelism, ring or gathered (model/context_attention.cpp):
// - the keys and values of the ranks in use: all ranks if gathered, two in a ring;
// - an fp32 gradient for each of these keys and values;
// - the gradient of the queries in fp32 and in the run's precision.
double ContextAttentionBytes(const RunConfig& config, const BlockTensors& tensors) {
  if (config.layout.cp == 1) return 0;
  if (ExchangesHeads(config)) return ExchangedAttentionBytes(config, tensors);
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
double PlainAttentionBytes(const RunConfig& config, const BlockTensors& tensors) {
  const double wide = kFloatBytes / BytesOf(config.train.precision);
  const bool has_parts = config.layout.cp > 1 && (wide > 1 || ExchangesHeads(config));
  const double weights =
      has_parts ? 2 * ScoresOf(LargestAttentionOf(config)) * kFloatBytes : tensors.softmax;
  return 2 * weights + wide * (tensors.packed_heads + 2 * tensors.queries);
}

// Sets the workspace of attention's backward pass. cuDNN requests its workspace as one tensor.
void SetAttention(const RunConfig& config, double heads, BlockTensors& tensors) {
  const bool is_manual = IsManual(config);
  tensors.attention = is_manual ? PlainAttentionBytes(config, tensors)
                                : FusedAttentionBytes(config, tensors.rows, heads);
  tensors.workspace = is_manual ? tensors.softmax : tensors.attention;
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
  SetAttention(config, queries, tensors);
  tensors.attention += ContextAttentionBytes(config, tensors);
  tensors.whole_result = ExchangesHeads(config) ? tensors.result : 0;
}

// Sets the sizes of latent attention (model/latent_attention.cpp). The heads are the queries, the
// keys, and the product that contains the values and the unrotated elements of keys. Selective
// recomputation computes these heads again from the vectors of lower rank and the shared keys.
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
  SetAttention(config, heads, tensors);
  const auto ranks = static_cast<double>(model.q_lora_rank + model.kv_lora_rank);
  const double norms = model.q_lora_rank > 0 ? 2 : 1;
  tensors.lower_rank = between * row_bytes * ranks;
  tensors.lower_norms = tensors.lower_rank + between * tensors.rows * norms * kFloatBytes;
  const double shared_keys = between * row_bytes * static_cast<double>(model.qk_pos_emb_head_dim);
  tensors.remade_heads = tensors.packed_heads + tensors.lower_norms - shared_keys;
}

// Returns the bytes of the buffers between the ranks of the experts. An all-to-all has the sorted
// copies of this rank's rows, the received rows, and the received rows sorted by expert. An
// all-gather has the rows of all ranks twice, and the rows sorted by expert.
double ExchangeBytes(const RunConfig& config, double stream, double row_bytes) {
  const LayoutConfig& layout = config.layout;
  switch (DispatchOf(config.model, layout)) {
    case ExpertDispatch::kLocal:
      return 0;
    case ExpertDispatch::kAllToAll:
      return MeanExpertRows(config.model, layout, stream) + 2 * row_bytes;
    case ExpertDispatch::kAllGather:
      return 2 * static_cast<double>(ExpertSizesOf(layout).ranks()) * stream + row_bytes;
  }
  return 0;
}

// Each tensor-parallel rank routes its own rows.
void SetExperts(const RunConfig& config, BlockTensors& tensors) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const double routed = tensors.rows / static_cast<double>(layout.tp);
  const double bytes = BytesOf(config.train.precision) * ReservedExpertRows(config, routed);
  const double choices = routed * static_cast<double>(model.moe_router_topk);
  ExpertTensors& experts = tensors.experts;
  experts.row_bytes = bytes * static_cast<double>(model.hidden_size);
  experts.activation = bytes * static_cast<double>(ExpertWidth(model)) /
                       static_cast<double>(ExpertSizesOf(layout).etp);
  experts.packed_up = (HasGate(model) ? 2 : 1) * experts.activation;
  experts.exchange =
      ExchangeBytes(config, tensors.all_rows / static_cast<double>(layout.tp), experts.row_bytes);
  experts.choice = choices * kIndexBytes;
  experts.router = routed * static_cast<double>(model.num_experts) * kFloatBytes +
                   choices * kFloatBytes + experts.choice;
}

double FeedForwardPart(const RunConfig& config, BlockKind kind) {
  const int64_t tp = config.layout.tp;
  if (kind == BlockKind::kDense) {
    return static_cast<double>(PartOf(config.model.ffn_hidden_size, tp, 0).length);
  }
  return static_cast<double>(config.model.moe_shared_expert_intermediate_size) /
         static_cast<double>(tp);
}

// The block's temporaries in the backward pass. Selective recomputation computes the results of
// norms and activations again; `again` is then 1, otherwise 0.
struct BackwardPass {
  const BlockTensors& tensors;
  KeptBytes kept;
  double again = 0;

  // The gradients of the block's result and input, and the recomputed result of the norm.
  double Stream() const { return (2 + again) * tensors.stream; }

  // With sequence parallelism, the dense feed-forward half also needs the rows of other ranks for
  // each of the three tensors of Stream. With experts, this half is the shared expert.
  double FeedForward() const {
    return Stream() + 3 * tensors.gathered + (1 + again) * tensors.activation + tensors.mlp_copies;
  }

  // The experts' half: the gradients of the rows' results and of the rows, the weighted activation
  // and its gradient, and the recomputed values (model/experts.cpp). Later the exchange's buffers,
  // or the shared expert, need memory instead. The tensors kept by the experts are then free.
  double Experts() const {
    const ExpertTensors& experts = tensors.experts;
    const double rows_again = again * experts.row_bytes;
    const double products = 2 * experts.row_bytes + (2 + again) * experts.activation + rows_again;
    const double freed = experts.packed_up + (1 - again) * experts.activation;
    const double after = std::max(experts.exchange, experts.row_bytes + rows_again);
    return std::max(Stream() + products, FeedForward() + after - freed);
  }

  // The gradients of the block's result and of the attention's result, and the recomputed result of
  // the norm. The tensors that the feed-forward half kept are subtracted, because they are already
  // free.
  double Attention() const {
    const double heads_again = again * tensors.remade_heads;
    return Stream() + 2 * tensors.gathered + tensors.result + tensors.packed_heads + heads_again +
           std::max(tensors.attention, tensors.all_rows + tensors.attention_copies) - kept.mlp -
           kept.dispatch;
  }
};

// An estimate of the working memory of the block-wise recipe. The estimate contains the gradients
// of a block's result, of its widest product, and of the rows at the experts.
double EstimatedWorking(const BlockTensors& tensors) {
  const ExpertTensors& experts = tensors.experts;
  return 3 * tensors.all_rows +
         std::max(tensors.packed_heads + tensors.queries, tensors.packed_up + tensors.activation) +
         2 * experts.row_bytes + experts.packed_up + experts.activation + experts.exchange;
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
  tensors.input_part = KeepsFp8Inputs(config) ? 0.5 : 1;
  if (!KeepsFp8Inputs(config)) SetFp8Copies(config, kind, tensors);
  if (kind == BlockKind::kExpert) SetExperts(config, tensors);
  return tensors;
}

// Returns the bytes of the tensors that model/block.cpp, attention.cpp, mlp.cpp and moe.cpp keep.
// Selective recomputation does not keep the results of the norms and of the activation, the rows
// sorted by expert, and the heads that latent attention computes from a lower rank. Full
// recomputation keeps the choice of experts, so that each row goes to the same experts again.
KeptBytes KeptByBlock(const BlockTensors& tensors, Recompute recompute) {
  const ExpertTensors& experts = tensors.experts;
  if (recompute == Recompute::kFull) {
    return {.attention = tensors.stream, .mlp = experts.choice};
  }
  const bool is_selective = recompute == Recompute::kSelective;
  const double again = is_selective ? 0 : tensors.input_part;
  const double norm = tensors.inverse_rms + again * tensors.stream;
  return {.attention = tensors.stream + norm + tensors.packed_heads + tensors.lower_norms -
                       (is_selective ? tensors.remade_heads : 0) + tensors.softmax +
                       tensors.input_part * tensors.result + tensors.whole_result +
                       tensors.head_norms + tensors.lower_rank,
          .mlp = tensors.middle + norm + tensors.packed_up + again * tensors.activation +
                 experts.router,
          .dispatch = again * experts.row_bytes + experts.packed_up + again * experts.activation};
}

double BlockWorking(const RunConfig& config, const BlockTensors& tensors) {
  const Recompute recompute = config.layout.recompute;
  const KeptBytes plain = KeptByBlock(tensors, Recompute::kNone);
  // Full recomputation keeps only the block's input, and recomputes from it everything that the
  // block would otherwise have kept.
  const double made_again =
      recompute == Recompute::kFull ? plain.OfBlock() + plain.dispatch - tensors.stream : 0;
  if (KeepsFp8Inputs(config)) return made_again + EstimatedWorking(tensors);
  const bool is_selective = recompute == Recompute::kSelective;
  const BackwardPass pass = {tensors, is_selective ? KeptByBlock(tensors, recompute) : plain,
                             is_selective ? 1.0 : 0.0};
  const bool has_experts = tensors.experts.row_bytes > 0;
  return made_again + std::max(has_experts ? pass.Experts() : pass.FeedForward(), pass.Attention());
}

double LargestTensor(const BlockTensors& tensors) {
  return std::max({tensors.workspace, tensors.packed_up, tensors.experts.packed_up});
}

double LogitBytes(const RunConfig& config, const BlockTensors& tensors) {
  const auto vocabulary =
      static_cast<double>(PartOf(config.model.vocab_size, config.layout.tp, 0).length);
  return std::min(tensors.rows, kHeadRows) * vocabulary * BytesOf(config.train.precision);
}

double HeadWorking(const RunConfig& config, const BlockTensors& tensors) {
  return 3 * tensors.stream + 2 * tensors.gathered + LogitBytes(config, tensors);
}

}  // namespace trainyard
