#include "proto/memory/memory_model.h"

#include <algorithm>

#include "proto/layout/layout_parts.h"
#include "proto/layout/pipeline_place.h"
#include "proto/layout/rank_order.h"
#include "proto/memory/attention_call.h"
#include "proto/memory/block_memory.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/run_rules.h"

namespace trainyard {
namespace {

// If gradients or weights are sharded, this many blocks have complete gradients or weights at the
// same time, in addition to the largest group (step/gradient_reduction.cpp,
// step/weight_exchange.cpp).
constexpr double kGradientBlocks = 2;
constexpr double kWeightBlocks = 1;

// Assumptions, rounded up and not measured in each run:
// - the CUDA context with the modules of the kernels and of cuDNN;
// - the workspace of cuBLASLt (kernels/gemm_plan.h);
// - the buffers of the NCCL communicators of one axis.
constexpr double kContextBytes = 600e6;
constexpr double kMatrixWorkspaceBytes = 64 << 20;
constexpr double kCommunicatorBytes = 500e6;

// The parameters of one block on one rank.
struct BlockParameters {
  double shared = 0;   // Each data-parallel rank has a copy of all of these.
  double experts = 0;  // Parameters of the experts on this rank.
};

BlockParameters ParametersOfBlock(const RunConfig& config, BlockKind kind) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const auto tp = static_cast<double>(layout.tp);
  const BlockMatrices matrices = BlockMatricesOf(model, kind);
  const BlockBiases biases = BlockBiasesOf(model);
  const HeadPlace heads = HeadsOf(model.num_attention_heads, model.num_query_groups, layout.tp, 0);
  BlockParameters block;
  block.shared = static_cast<double>(matrices.cut + biases.cut) / tp +
                 static_cast<double>(heads.keys.length * (matrices.keys + biases.keys)) +
                 static_cast<double>(matrices.whole + biases.whole) +
                 static_cast<double>(BlockNormCount(model));
  if (kind == BlockKind::kDense) return block;
  block.experts = static_cast<double>(model.num_experts) / static_cast<double>(layout.ep) *
                  static_cast<double>(ExpertParameterCount(model)) /
                  static_cast<double>(ExpertSizesOf(layout).etp);
  return block;
}

// The number of blocks of each kind in one chunk of a stage. Dense models: the blocks of the first
// chunk, which has the most layers, as an upper bound for the other chunks. Models with experts:
// the mean over the chunks, because all layers of the first chunk may be dense.
struct ChunkLayers {
  double dense = 0;
  double expert = 0;
};

ChunkLayers LayersOfChunk(const RunConfig& config, const PipelinePlace& place) {
  const ModelConfig& model = config.model;
  ChunkLayers layers;
  const int64_t chunks = HasExperts(model) ? place.chunks : 1;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const LayerKinds kinds = KindsOf(model, place.Layers(model.num_layers, chunk));
    layers.dense += static_cast<double>(kinds.dense) / static_cast<double>(chunks);
    layers.expert += static_cast<double>(kinds.expert) / static_cast<double>(chunks);
  }
  return layers;
}

// The parameters of a pipeline stage on one rank.
struct StageParameters {
  double shared = 0;
  double experts = 0;
  double cast = 0;  // Weights that have FP8 copies at the same time.
  double block = 0;
  double largest_group = 0;
};

// Returns the number of parameters of the embedding, head, final norm and learned positions in one
// chunk. Sets `table` to the size of the largest table.
double TableParameters(const RunConfig& config, bool has_embedding, bool has_head, double& table) {
  const ModelConfig& model = config.model;
  const auto whole =
      static_cast<double>(PartOf(model.vocab_size, config.layout.tp, 0).length * model.hidden_size);
  const bool is_untied = model.untie_embeddings_and_output_weights;
  const bool has_table = has_embedding || (has_head && HasTableAtBothEnds(model));
  const double tables = (has_table ? 1 : 0) + (has_head && is_untied ? 1 : 0);
  if (tables > 0) table = whole;
  double parameters = tables * whole;
  if (has_head) parameters += static_cast<double>(NormVectors(model) * model.hidden_size);
  const bool has_positions =
      has_embedding && model.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
  if (!has_positions) return parameters;
  return parameters + static_cast<double>(model.max_position_embeddings * model.hidden_size);
}

BlockKind KindOfMtpBlocks(const ModelConfig& model) {
  return HasExperts(model) ? BlockKind::kExpert : BlockKind::kDense;
}

// Adds the parameters of multi-token prediction, except for a copy of the token table. Every
// tensor-parallel rank has the whole projection.
void AddMtpModules(const RunConfig& config, StageParameters& stage) {
  const ModelConfig& model = config.model;
  const auto modules = static_cast<double>(model.mtp_num_layers);
  const BlockParameters block = ParametersOfBlock(config, KindOfMtpBlocks(model));
  const auto others =
      static_cast<double>(MtpProjectionCount(model) + 3 * NormVectors(model) * model.hidden_size);
  stage.shared += modules * (block.shared + others);
  stage.experts += modules * block.experts;
}

// Returns the number of weights that have FP8 copies at the same time. In ZeRO stage 3, these are
// the weights of one block. The block-wise recipe is assumed to use FP8 for all products of blocks.
double CopiedWeights(const RunConfig& config, const PipelinePlace& place,
                     const StageParameters& stage) {
  if (config.train.fp8 == Fp8Recipe::kBlock) return stage.shared + stage.experts;
  const auto dense = static_cast<double>(Fp8WeightsOf(config, BlockKind::kDense));
  const auto expert = static_cast<double>(Fp8WeightsOf(config, BlockKind::kExpert));
  if (config.layout.zero >= 3) return std::max(dense, expert);
  const ModelConfig& model = config.model;
  double weights = 0;
  for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
    const LayerKinds layers = KindsOf(model, place.Layers(model.num_layers, chunk));
    weights +=
        dense * static_cast<double>(layers.dense) + expert * static_cast<double>(layers.expert);
    if (!place.HasHead(chunk)) continue;
    weights += static_cast<double>(model.mtp_num_layers) * (HasExperts(model) ? expert : dense);
  }
  return weights;
}

StageParameters ParametersOf(const RunConfig& config, const PipelinePlace& place) {
  const ModelConfig& model = config.model;
  const BlockParameters dense = ParametersOfBlock(config, BlockKind::kDense);
  const BlockParameters expert =
      HasExperts(model) ? ParametersOfBlock(config, BlockKind::kExpert) : BlockParameters();
  StageParameters stage;
  double tables = 0, table = 0;
  for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
    const LayerKinds layers = KindsOf(model, place.Layers(model.num_layers, chunk));
    stage.shared += dense.shared * static_cast<double>(layers.dense) +
                    expert.shared * static_cast<double>(layers.expert);
    stage.experts += expert.experts * static_cast<double>(layers.expert);
    if (place.HasHead(chunk)) AddMtpModules(config, stage);
    if (layers.dense > 0) stage.block = std::max(stage.block, dense.shared);
    if (layers.expert > 0) stage.block = std::max(stage.block, expert.shared + expert.experts);
    tables += TableParameters(config, place.HasEmbedding(chunk), place.HasHead(chunk), table);
  }
  stage.cast = CopiedWeights(config, place, stage);
  stage.shared += tables;
  stage.largest_group = std::max(stage.block, table);
  return stage;
}

// Adds weights, gradients and moments of `parameters` parameters. Sharded values are divided among
// `owners` ranks.
void AddState(const RunConfig& config, double parameters, double owners,
              MemoryPrediction& prediction) {
  const LayoutConfig& layout = config.layout;
  const double value = BytesOf(config.train.precision);
  // For each bf16 weight, the optimizer's state has the low 16 bits of an fp32 master weight. For
  // each fp16 weight, the state has the whole master weight.
  const double master =
      config.train.precision == Precision::kFp16 ? kFloatBytes : kFloatBytes - value;
  const double weight_owners = layout.zero >= 3 ? owners : 1;
  prediction.weights += parameters * (value / weight_owners + master / owners);
  prediction.gradients += parameters * kFloatBytes / (layout.zero >= 2 ? owners : 1);
  prediction.moments +=
      parameters *
      (BytesOf(config.optimizer.exp_avg_dtype) + BytesOf(config.optimizer.exp_avg_sq_dtype)) /
      owners;
}

double OwnersOf(const LayoutConfig& layout, int64_t alike) {
  if (!ShardsOptimizerState(layout)) return 1;
  return static_cast<double>(layout.zero_size > 0 ? std::min(layout.zero_size, alike) : alike);
}

// Adds the activations of `layers` blocks of one kind, of which `recomputed` blocks are recomputed.
void AddActivations(const RunConfig& config, const BlockTensors& tensors, double layers,
                    double recomputed, double passes, MemoryPrediction& prediction) {
  const KeptBytes kept = KeptByBlock(tensors, config.layout.recompute);
  const KeptBytes plain = KeptByBlock(tensors, Recompute::kNone);
  prediction.activations +=
      passes * (recomputed * kept.OfBlock() + (layers - recomputed) * plain.OfBlock());
  prediction.dispatch +=
      passes * (recomputed * kept.dispatch + (layers - recomputed) * plain.dispatch);
}

// Returns the bytes of the attention bias that separates documents. The bias has one value per pair
// of positions, for each micro-batch in progress. Manual attention needs a negligible amount
// instead (ops/visible_keys.h).
double DocumentBytes(const RunConfig& config, const PipelinePlace& place) {
  if (!config.data.reset_attention_mask || AttentionBackendOf(config) == AttentionBackend::kManual)
    return 0;
  const auto length = static_cast<double>(config.train.seq_length);
  return PassesUnderWay(config, place) * static_cast<double>(config.layout.micro_batch) * 2 *
         length * length;
}

double OverheadBytes(const LayoutConfig& layout) {
  const int64_t alike = layout.dp * layout.cp;
  double axes = 0;
  for (const int64_t size : {layout.tp, layout.cp, alike, layout.pp, layout.ep})
    axes += size > 1 ? 1 : 0;
  return kContextBytes + kMatrixWorkspaceBytes + axes * kCommunicatorBytes;
}

// Returns the bytes that multi-token prediction keeps at its peak. All modules run forward before
// the first runs backward. Besides its block, a module keeps five tensors of the residual stream's
// size and the input of the projection, which is twice as wide.
double MtpWorking(const RunConfig& config) {
  if (config.model.mtp_num_layers == 0) return 0;
  const BlockTensors tensors = TensorsOf(config, KindOfMtpBlocks(config.model));
  const KeptBytes kept = KeptByBlock(tensors, config.layout.recompute);
  return static_cast<double>(config.model.mtp_num_layers) *
             (kept.OfBlock() + kept.dispatch + 7 * tensors.stream) +
         BlockWorking(config, tensors);
}

// Adds the activations, and the largest sum of temporaries. Assumes that dense layers come first.
void AddPasses(const RunConfig& config, const PipelinePlace& place, MemoryPrediction& prediction) {
  const LayoutConfig& layout = config.layout;
  const ChunkLayers layers = LayersOfChunk(config, place);
  const double passes = PassesUnderWay(config, place);
  const double limit = layout.recompute_num_layers == 0
                           ? layers.dense + layers.expert
                           : static_cast<double>(layout.recompute_num_layers);
  const double dense_limit = std::min(layers.dense, limit);
  const BlockTensors dense = TensorsOf(config, BlockKind::kDense);
  if (layers.dense > 0) {
    AddActivations(config, dense, layers.dense, dense_limit, passes, prediction);
    prediction.working = BlockWorking(config, dense);
    prediction.largest = LargestTensor(dense);
  }
  if (layers.expert > 0) {
    const BlockTensors expert = TensorsOf(config, BlockKind::kExpert);
    AddActivations(config, expert, layers.expert, std::min(layers.expert, limit - dense_limit),
                   passes, prediction);
    prediction.working = std::max(prediction.working, BlockWorking(config, expert));
    prediction.largest = std::max(prediction.largest, LargestTensor(expert));
  }
  prediction.activations += DocumentBytes(config, place);
  if (!place.HasHead(place.chunks - 1)) return;
  prediction.working =
      std::max(prediction.working, HeadWorking(config, dense) + MtpWorking(config));
  prediction.largest = std::max(prediction.largest, LogitBytes(config, dense));
}

MemoryPrediction PredictStage(const RunConfig& config, const PipelinePlace& place) {
  const LayoutConfig& layout = config.layout;
  const StageParameters parameters = ParametersOf(config, place);
  const int64_t alike = std::max<int64_t>(layout.dp, 1) * layout.cp;
  MemoryPrediction prediction;
  AddState(config, parameters.shared, OwnersOf(layout, alike), prediction);
  if (parameters.experts > 0) {
    AddState(config, parameters.experts, OwnersOf(layout, ExpertSizesOf(layout).edp), prediction);
  }
  prediction.weights += 2 * parameters.cast;  // FP8 copies, plain and transposed.
  AddPasses(config, place, prediction);
  if (layout.zero >= 2) {
    prediction.working +=
        (parameters.largest_group + kGradientBlocks * parameters.block) * kFloatBytes;
  }
  if (layout.zero >= 3) {
    prediction.working += (parameters.largest_group + kWeightBlocks * parameters.block) *
                          BytesOf(config.train.precision);
  }
  const int64_t slot_bytes = ExchangeSlotBytes(config) + ContextSlotBytes(config);
  prediction.overhead = OverheadBytes(layout) + static_cast<double>(kExchangeSlots * slot_bytes);
  return prediction;
}

}  // namespace

int64_t ExchangeSlotBytes(const RunConfig& config) {
  if (config.layout.tp <= 1) return 0;
  return static_cast<int64_t>(TensorsOf(config, BlockKind::kDense).gathered);
}

int64_t ContextSlotBytes(const RunConfig& config) {
  if (config.layout.cp != 2 || !ExchangesHeads(config)) return 0;
  const BlockTensors tensors = TensorsOf(config, BlockKind::kDense);
  return static_cast<int64_t>(tensors.packed_heads * LargestCallOf(config).share);
}

double PassesUnderWay(const RunConfig& config, const PipelinePlace& place) {
  const LayoutConfig& layout = config.layout;
  const int64_t samples = layout.micro_batch * std::max<int64_t>(layout.dp, 1);
  const int64_t passes = std::max<int64_t>(config.train.global_batch / samples, 1) * place.chunks;
  const int64_t behind = place.stages - 1 - place.stage;
  const int64_t warm_up =
      place.chunks == 1 ? behind : 2 * behind + (place.chunks - 1) * place.stages;
  // Passes whose weight gradients are deferred.
  const int64_t waiting = layout.zero_bubble ? place.stage : 0;
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
