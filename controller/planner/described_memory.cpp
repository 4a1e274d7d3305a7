#include "controller/planner/described_memory.h"

#include <algorithm>

#include "controller/planner/block_work.h"
#include "controller/planner/step_time.h"
#include "proto/contract/model_size.h"
#include "proto/contract/pipeline_place.h"

namespace trainyard::planner {
namespace {

constexpr double kWideBytes = 4;
constexpr double kValueBytes = 2;  // bf16.

// Bytes that a block keeps for its backward pass.
struct Kept {
  double block = 0;
  double dispatch = 0;  // For the rows at the experts.

  double Sum() const { return block + dispatch; }
};

// Bytes per value of an input of matrix products that is kept only for them.
double InputBytes(const BlockWork& work) { return work.is_fp8 ? 1 : kValueBytes; }

// Queries, keys, values and the result, the softmax sums, and the lower-rank vectors with their
// norms.
double AttentionBytes(const BlockWork& work, bool makes_heads_again) {
  const LatentWork& latent = work.latent;
  const double lower =
      2 * kValueBytes * work.norm_rows * (latent.query_rank + latent.key_rank + latent.rotary);
  const double value = latent.key_rank > 0 ? work.heads * latent.value : work.queries;
  const double heads = makes_heads_again ? 0 : kValueBytes * (work.queries + 2 * work.keys);
  return lower + work.rows * (heads + InputBytes(work) * value + kWideBytes * work.heads);
}

// Selective recomputation repeats norms and activation, and the heads computed from a lower rank.
Kept KeptByBlock(const BlockWork& work, bool is_selective) {
  const double again = is_selective ? 0 : 1;
  const double stream = work.norm_rows * work.hidden;
  const double up = work.is_gated ? 2 : 1;
  const double wide = kValueBytes * up + again * InputBytes(work);
  Kept kept;
  kept.block = 2 * stream * (kValueBytes + again * InputBytes(work)) +
               2 * work.norm_rows * kWideBytes +
               AttentionBytes(work, is_selective && work.latent.key_rank > 0) +
               work.rows * work.ffn * wide + work.norm_rows * work.experts.all * kWideBytes;
  kept.dispatch = work.experts.copies * (InputBytes(work) * work.hidden + wide * work.experts.ffn);
  return kept;
}

// Gradients of a block's result, of its widest product, and of rows at the experts with their send
// buffers; with full recomputation, also a whole block.
double BlockWorking(const BlockWork& work, Recompute recompute) {
  const double up = work.is_gated ? 2 : 1;
  const double half =
      std::max(work.rows * (work.queries + 2 * work.keys) + work.rows * work.queries,
               work.rows * work.ffn * (up + 1));
  const double copies = work.experts.copies * (2 * work.hidden + (up + 1) * work.experts.ffn) +
                        2 * work.experts.sent * work.hidden;
  const double made_again =
      recompute == Recompute::kFull ? KeptByBlock(work, /*is_selective=*/false).Sum() : 0;
  return made_again + kValueBytes * (3 * work.rows * work.hidden + half + copies);
}

Kept KeptInAll(const BlockWork& work, Recompute recompute) {
  if (recompute == Recompute::kFull) return {kValueBytes * work.norm_rows * work.hidden, 0};
  return KeptByBlock(work, recompute == Recompute::kSelective);
}

// One kind of block on a stage, in all layers of all passes under way.
struct Blocks {
  BlockWork work;
  double layers = 0;
};

struct StageState {
  double dense = 0;   // Parameters that all data-parallel ranks have.
  double expert = 0;  // Parameters of experts.
  double casts = 0;   // Parameters of FP8 products.
};

StageState StateOf(const RunConfig& config, const StageLoad& load, const Blocks& dense,
                   const Blocks& expert) {
  const double norms =
      2.0 * static_cast<double>(NormVectors(config.model) * config.model.hidden_size);
  const double tables = (load.has_embedding ? 1 : 0) + (load.has_head ? 1 : 0);
  StageState state;
  state.dense = dense.layers * (dense.work.BlockParameters() + norms) +
                expert.layers * (expert.work.BlockParameters() + norms);
  state.expert = expert.layers * expert.work.ExpertParameters();
  state.casts = dense.work.is_fp8 ? state.dense + state.expert : 0;
  state.dense += tables * dense.work.TableParameters();
  return state;
}

double Owners(const LayoutConfig& layout, int64_t alike, int64_t from_zero) {
  return layout.zero >= from_zero ? static_cast<double>(alike) : 1;
}

// Adds the state of `parameters`, of which `alike` ranks have the same copy.
void AddState(const RunConfig& config, double parameters, int64_t alike,
              MemoryPrediction& prediction) {
  const LayoutConfig& layout = config.layout;
  const auto bytes = [](Precision precision) { return precision == Precision::kBf16 ? 2.0 : 4.0; };
  const double owned = parameters / Owners(layout, alike, 1);
  prediction.weights += parameters * kValueBytes / Owners(layout, alike, 3) + kValueBytes * owned;
  prediction.gradients += parameters * kWideBytes / Owners(layout, alike, 2);
  prediction.moments +=
      owned * (bytes(config.optimizer.exp_avg_dtype) + bytes(config.optimizer.exp_avg_sq_dtype));
}

// Whole gradients and weights that exist in addition to the rank's own parts.
double WholeBytes(const RunConfig& config, const Blocks& dense, const Blocks& expert) {
  const double block = std::max(
      dense.layers > 0 ? dense.work.BlockParameters() : 0,
      expert.layers > 0 ? expert.work.BlockParameters() + expert.work.ExpertParameters() : 0);
  const double group = std::max(block, dense.work.TableParameters());
  double bytes = 0;
  if (config.layout.zero >= 2) bytes += (group + 2 * block) * kWideBytes;
  if (config.layout.zero >= 3) bytes += (group + block) * kValueBytes;
  return bytes;
}

StageLoad LoadOfStage(const RunConfig& config, const DescribedParts& parts, int64_t stage) {
  StageLoad found;
  for (const StageLoad& load : LoadsOfStages(config, /*balances_head=*/true, parts)) {
    if (load.stage <= stage) found = load;
  }
  return found;
}

}  // namespace

MemoryPrediction DescribedStageMemory(const RunConfig& config, const DescribedParts& parts,
                                      int64_t stage) {
  const LayoutConfig& layout = config.layout;
  const StageLoad load = LoadOfStage(config, parts, stage);
  Blocks dense = {WorkOf(config, parts), load.layers - load.expert_layers};
  Blocks expert;
  if (parts.experts.count > 0) expert = {ExpertWorkOf(config, parts), load.expert_layers};
  const StageState state = StateOf(config, load, dense, expert);
  MemoryPrediction prediction = {.overhead = PredictStageMemory(config, stage).overhead};
  AddState(config, state.dense, std::max<int64_t>(layout.dp, 1) * layout.cp, prediction);
  AddState(config, state.expert, ExpertDataSize(layout, parts), prediction);
  prediction.weights += 2 * state.casts;  // In FP8, plain and transposed.
  const PipelinePlace place = PlaceOfStage(config, stage);
  const double passes = PassesUnderWay(config, place) / static_cast<double>(place.chunks);
  const BlockWork& work = dense.work;
  prediction.working = WholeBytes(config, dense, expert);
  double busiest = 0;
  for (const Blocks& blocks : {dense, expert}) {
    if (blocks.layers == 0) continue;
    const Kept kept = KeptInAll(blocks.work, layout.recompute);
    prediction.activations += passes * blocks.layers * kept.block;
    prediction.dispatch += passes * blocks.layers * kept.dispatch;
    busiest = std::max(busiest, BlockWorking(blocks.work, layout.recompute));
  }
  constexpr double kHeadRows = 8192;
  const double head = kValueBytes * (3 * work.rows * work.hidden +
                                     std::min(work.rows, kHeadRows) * work.vocabulary);
  prediction.working += load.has_head ? std::max(busiest, head) : busiest;
  return prediction;
}

}  // namespace trainyard::planner
