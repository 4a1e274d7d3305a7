#include "proto/contract/memory_model.h"

#include <algorithm>

#include "proto/contract/attention_rules.h"
#include "proto/contract/layout_parts.h"
#include "proto/contract/model_size.h"
#include "proto/contract/pipeline_place.h"
#include "proto/contract/run_rules.h"

namespace trainyard {
namespace {

constexpr double kFloatBytes = 4;

// Rows of logits that a GPU has at a time (CrossEntropyRowsPerChunk).
constexpr double kHeadRows = 8192;

// Blocks whose whole gradients, or weights, exist in addition to the largest group if a rank keeps
// only parts of them (step/gradient_reduction.cpp, step/weight_exchange.cpp).
constexpr double kGradientBlocks = 2;
constexpr double kWeightBlocks = 1;

// Assumptions, rounded up, not measured per run: the CUDA context with the modules of the kernels
// and of cuDNN, the workspace of cuBLASLt (kernels/gemm_plan.h), and the buffers of the NCCL
// communicators of one axis.
constexpr double kContextBytes = 600e6;
constexpr double kMatrixWorkspaceBytes = 64 << 20;
constexpr double kCommunicatorBytes = 500e6;

double BytesOf(Precision precision) { return precision == Precision::kBf16 ? 2 : 4; }

// Sizes in bytes of the tensors of one micro-batch in one block on one rank.
struct BlockTensors {
  double rows;          // Tokens of a micro-batch.
  double stream;        // [rows between the matrices, hidden]: a norm's result, a gradient.
  double middle;        // The input of the feed-forward half; 0 if it is the block's input.
  double all_rows;      // [rows, hidden].
  double inverse_rms;   // fp32, of the rows between the matrices.
  double queries;       // [rows, query heads * head size], as is the attention's result.
  double packed_heads;  // Queries, keys and values.
  double softmax;       // Kept by attention.
  double head_norms;    // Kept by the norms of query and key heads.
  double attention;     // Workspace of the attention's backward pass.
  double activation;    // [rows, ffn].
  double packed_up;     // Includes the gate, if there is one.
  double gathered;      // Rows of other ranks, in addition to `stream`, for one matrix product.
};

bool IsManual(const RunConfig& config) {
  return AttentionBackendOf(config) == AttentionBackend::kManual;
}

// The log of each row's sum with fused kernels or with parts of a sample; otherwise all weights.
double SoftmaxBytes(const RunConfig& config, double rows, double heads) {
  const bool keeps_sums = !IsManual(config) || config.layout.cp > 1;
  const double columns = keeps_sums ? 1 : static_cast<double>(config.train.seq_length);
  return rows * heads * columns * kFloatBytes;
}

// Backward pass of cuDNN (kernels/attention.h): sums of the rows; gradients of keys and values for
// each query head, if query heads share them; and bf16 scores or, if the result may be
// nondeterministic, the fp32 gradient of the queries.
double FusedAttentionBytes(const RunConfig& config, double rows, double heads) {
  const ModelConfig& model = config.model;
  const auto queries = heads * static_cast<double>(HeadSize(model));
  const bool shares = model.num_query_groups < model.num_attention_heads;
  const double keys = static_cast<double>(config.train.seq_length / config.layout.cp);
  const double own =
      config.train.deterministic ? 2 * rows * heads * keys : rows * queries * kFloatBytes;
  return own + rows * heads * kFloatBytes + (shares ? 2 * rows * queries * 2 : 0);
}

// Context parallelism, ring or gathered: keys and values of the ranks in use, their gradients in
// fp32, local and in transfer, and the gradient of the queries in fp32
// (model/context_attention.cpp).
double ContextAttentionBytes(const RunConfig& config, const BlockTensors& tensors) {
  if (config.layout.cp == 1) return 0;
  const double key_values = tensors.packed_heads - tensors.queries;
  const double wide = kFloatBytes / BytesOf(config.train.precision);
  const bool gathers = config.layout.cp_comm_type == ContextExchange::kAllGather;
  const double copies = gathers ? static_cast<double>(config.layout.cp) : 2;
  return copies * key_values * (1 + wide) + (1 + wide) * tensors.queries;
}

// Without the fused kernel (ops/attention.cpp): the gradients of weights and scores, the heads of
// each group stacked, and a result. With bf16 these are fp32. With parts of a sample the weights of
// one part are recomputed (ops/attention_part.cpp).
double PlainAttentionBytes(const RunConfig& config, const BlockTensors& tensors, double heads) {
  const double wide = kFloatBytes / BytesOf(config.train.precision);
  const double part = static_cast<double>(config.train.seq_length / config.layout.cp);
  const bool has_parts = wide > 1 && config.layout.cp > 1;
  const double weights =
      has_parts ? 2 * tensors.rows * heads * part * kFloatBytes : tensors.softmax;
  return 2 * weights + wide * (tensors.packed_heads + 2 * tensors.queries);
}

BlockTensors TensorsOf(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, layout.tp, 0);
  const bool splits_rows = layout.tp > 1 && layout.sequence_parallel;
  BlockTensors tensors{};
  tensors.rows = static_cast<double>(layout.micro_batch) *
                 static_cast<double>(config.train.seq_length / layout.cp);
  const double row_bytes = tensors.rows * BytesOf(config.train.precision);
  const auto head_bytes = row_bytes * static_cast<double>(HeadSize(model));
  const double between = splits_rows ? 1.0 / static_cast<double>(layout.tp) : 1;
  tensors.all_rows = row_bytes * static_cast<double>(model.hidden_size);
  tensors.stream = between * tensors.all_rows;
  tensors.middle = model.parallel_residual ? 0 : tensors.stream;
  tensors.gathered = splits_rows ? tensors.all_rows : 0;
  const double statistics = model.normalization == Normalization::kLayerNorm ? 2 : 1;
  tensors.inverse_rms = statistics * between * tensors.rows * kFloatBytes;
  const auto queries = static_cast<double>(heads.queries.length);
  tensors.queries = head_bytes * queries;
  tensors.packed_heads = tensors.queries + 2 * head_bytes * static_cast<double>(heads.key_slots);
  tensors.softmax = SoftmaxBytes(config, tensors.rows, queries);
  const auto normed = queries + static_cast<double>(heads.keys.length);
  tensors.head_norms = model.qk_layernorm ? normed * (head_bytes + tensors.rows * kFloatBytes) : 0;
  tensors.attention = IsManual(config) ? PlainAttentionBytes(config, tensors, queries)
                                       : FusedAttentionBytes(config, tensors.rows, queries);
  tensors.attention += ContextAttentionBytes(config, tensors);
  tensors.activation =
      row_bytes * static_cast<double>(PartOf(model.ffn_hidden_size, layout.tp, 0).length);
  tensors.packed_up = (HasGate(model) ? 2 : 1) * tensors.activation;
  return tensors;
}

// Bytes kept by a block's forward pass: model/block.cpp, attention.cpp and mlp.cpp.
struct KeptBytes {
  double attention;
  double mlp;
};

KeptBytes KeptByBlock(const BlockTensors& tensors, bool is_selective) {
  const double again = is_selective ? 0 : 1;  // Norms and the activation.
  const double norm = tensors.inverse_rms + again * tensors.stream;
  return {tensors.stream + norm + tensors.packed_heads + tensors.softmax + tensors.queries +
              tensors.head_norms,
          tensors.middle + norm + tensors.packed_up + again * tensors.activation};
}

// Final hidden states, their norm and gradient, and a chunk of logits.
double HeadWorking(const RunConfig& config, const BlockTensors& tensors) {
  const auto vocabulary =
      static_cast<double>(PartOf(config.model.vocab_size, config.layout.tp, 0).length);
  const double logits =
      std::min(tensors.rows, kHeadRows) * vocabulary * BytesOf(config.train.precision);
  return 3 * tensors.stream + 2 * tensors.gathered + logits;
}

// Peak of the last block's backward pass, in addition to the activations of all blocks.
double BlockWorking(const BlockTensors& tensors, Recompute recompute) {
  const bool is_selective = recompute == Recompute::kSelective;
  const double again = is_selective ? 1 : 0;
  const KeptBytes kept = KeptByBlock(tensors, is_selective);
  // Gradients of result and input; the norm's result, recomputed. With rows of other ranks also the
  // result's gradient, the norm's result and the input's gradient.
  const double mlp =
      (2 + again) * tensors.stream + 3 * tensors.gathered + (1 + again) * tensors.activation;
  // Gradients of the block's result and of the attention's result; the norm's result, recomputed.
  // Tensors kept by the feed-forward half are free by then.
  const double attention = (2 + again) * tensors.stream + 2 * tensors.gathered + tensors.queries +
                           tensors.packed_heads + std::max(tensors.attention, tensors.all_rows) -
                           kept.mlp;
  // Everything a block would have kept is recomputed from its kept input.
  const double made_again =
      recompute == Recompute::kFull ? kept.attention + kept.mlp - tensors.stream : 0;
  return made_again + std::max(mlp, attention);
}

// Parameters of a pipeline stage on one rank.
struct StageParameters {
  double all = 0;
  double block = 0;
  double largest_group = 0;
};

StageParameters ParametersOf(const RunConfig& config, const PipelinePlace& place) {
  const ModelConfig& model = config.model;
  const int64_t tp = config.layout.tp;
  const BlockMatrices matrices = BlockMatricesOf(model);
  const BlockBiases biases = BlockBiasesOf(model);
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, tp, 0);
  const auto block = static_cast<double>(matrices.cut + biases.cut) / static_cast<double>(tp) +
                     static_cast<double>(heads.keys.length * (matrices.keys + biases.keys)) +
                     static_cast<double>(biases.whole) +
                     2.0 * static_cast<double>(NormVectors(model) * model.hidden_size);
  const auto table =
      static_cast<double>(PartOf(model.vocab_size, tp, 0).length * model.hidden_size);
  const bool is_untied = model.untie_embeddings_and_output_weights;
  StageParameters stage{.block = block, .largest_group = block};
  for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
    stage.all += block * static_cast<double>(place.Layers(model.num_layers, chunk).length);
    const bool has_embedding = place.HasEmbedding(chunk), has_head = place.HasHead(chunk);
    if (has_head) stage.all += static_cast<double>(NormVectors(model) * model.hidden_size);
    const double tables = has_embedding && has_head   ? (is_untied ? 2 : 1)
                          : has_embedding || has_head ? 1
                                                      : 0;
    stage.all += tables * table;
    const bool has_positions =
        has_embedding && model.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
    if (has_positions) {
      stage.all += static_cast<double>(model.max_position_embeddings * model.hidden_size);
    }
    if (tables > 0) stage.largest_group = std::max(block, table);
  }
  return stage;
}

// Upper bound: chunk 0 has the largest number of layers.
double KeptActivations(const RunConfig& config, const BlockTensors& tensors,
                       const PipelinePlace& place) {
  const double layers = static_cast<double>(place.Layers(config.model.num_layers, 0).length);
  const double recomputed =
      config.layout.recompute_num_layers == 0
          ? layers
          : std::min(layers, static_cast<double>(config.layout.recompute_num_layers));
  const auto of_all = [](const KeptBytes& kept) { return kept.attention + kept.mlp; };
  const double kept =
      config.layout.recompute == Recompute::kFull
          ? tensors.stream
          : of_all(KeptByBlock(tensors, config.layout.recompute == Recompute::kSelective));
  const double plain = of_all(KeptByBlock(tensors, /*is_selective=*/false));
  return PassesUnderWay(config, place) * (recomputed * kept + (layers - recomputed) * plain);
}

// Attention bias of documents, for each micro-batch in progress: one value per pair of positions.
// Manual attention needs a negligible amount (ops/visible_keys.h).
double DocumentBytes(const RunConfig& config, const PipelinePlace& place) {
  if (!config.data.reset_attention_mask || IsManual(config)) return 0;
  const auto length = static_cast<double>(config.train.seq_length);
  return PassesUnderWay(config, place) * static_cast<double>(config.layout.micro_batch) * 2 *
         length * length;
}

double OverheadBytes(const LayoutConfig& layout) {
  const int64_t alike = layout.dp * layout.cp;
  double axes = 0;
  for (const int64_t size : {layout.tp, layout.cp, alike, layout.pp}) axes += size > 1 ? 1 : 0;
  return kContextBytes + kMatrixWorkspaceBytes + axes * kCommunicatorBytes;
}

MemoryPrediction PredictStage(const RunConfig& config, const PipelinePlace& place) {
  const LayoutConfig& layout = config.layout;
  const BlockTensors tensors = TensorsOf(config);
  const StageParameters parameters = ParametersOf(config, place);
  const double alike = static_cast<double>(std::max<int64_t>(layout.dp, 1) * layout.cp);
  const double owners = !ShardsOptimizerState(layout) ? 1
                        : layout.zero_size > 0        ? static_cast<double>(layout.zero_size)
                                                      : alike;
  const double value = BytesOf(config.train.precision);
  MemoryPrediction prediction;
  // Each bf16 weight has 16 additional low bits, which belong to the optimizer.
  const double weight_owners = layout.zero >= 3 ? owners : 1;
  prediction.weights = parameters.all * (value / weight_owners + (kFloatBytes - value) / owners);
  prediction.gradients = parameters.all * kFloatBytes / (layout.zero >= 2 ? owners : 1);
  prediction.moments =
      parameters.all *
      (BytesOf(config.optimizer.exp_avg_dtype) + BytesOf(config.optimizer.exp_avg_sq_dtype)) /
      owners;
  prediction.activations = KeptActivations(config, tensors, place) + DocumentBytes(config, place);
  prediction.working = BlockWorking(tensors, layout.recompute);
  const bool has_head = place.HasHead(place.chunks - 1);
  if (has_head) prediction.working = std::max(prediction.working, HeadWorking(config, tensors));
  if (layout.zero >= 2) {
    prediction.working +=
        (parameters.largest_group + kGradientBlocks * parameters.block) * kFloatBytes;
  }
  if (layout.zero >= 3) {
    prediction.working += (parameters.largest_group + kWeightBlocks * parameters.block) * value;
  }
  prediction.overhead = OverheadBytes(layout);
  return prediction;
}

}  // namespace

double PassesUnderWay(const RunConfig& config, const PipelinePlace& place) {
  const LayoutConfig& layout = config.layout;
  const int64_t samples = layout.micro_batch * std::max<int64_t>(layout.dp, 1);
  const int64_t passes = std::max<int64_t>(config.train.global_batch / samples, 1) * place.chunks;
  const int64_t behind = place.stages - 1 - place.stage;
  const int64_t warm_up =
      place.chunks == 1 ? behind : 2 * behind + (place.chunks - 1) * place.stages;
  const int64_t waiting = layout.zero_bubble ? place.stage : 0;  // For their weight gradients.
  return static_cast<double>(std::min(warm_up + 1 + waiting, passes));
}

MemoryPrediction PredictStageMemory(const RunConfig& config, int64_t stage) {
  return PredictStage(config, PlaceOfStage(config, stage));
}

MemoryPrediction PredictTrainingMemory(const RunConfig& config) {
  MemoryPrediction largest;
  for (int64_t stage = 0; stage < config.layout.pp; ++stage) {
    const MemoryPrediction prediction = PredictStageMemory(config, stage);
    if (prediction.Total() > largest.Total()) largest = prediction;
  }
  return largest;
}

}  // namespace trainyard
