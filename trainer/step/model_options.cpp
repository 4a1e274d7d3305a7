#include "trainer/step/model_options.h"

#include <algorithm>

#include "proto/layout/pipeline_place.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/run_rules.h"

namespace trainyard::trainer {
namespace {

KeptParts PartsOf(ParameterKind kind, const LayoutConfig& layout, const RankGroups& groups) {
  const Communicator &shard = groups.ShardOf(kind), &replica = groups.ReplicaOf(kind);
  KeptParts parts;
  const bool has_shards = ShardsOptimizerState(layout);
  if (has_shards) parts.owned = {shard.rank(), shard.size()};
  parts.stored = {shard.rank() * replica.size() + replica.rank(), shard.size() * replica.size()};
  parts.counts = (has_shards ? replica : shard).rank() == 0;
  return parts;
}

ModelParallel ParallelOf(const RunConfig& config, const Mesh& mesh, int64_t rank,
                         const RankGroups& groups) {
  const LayoutConfig& layout = config.layout;
  ModelParallel parallel;
  parallel.pipeline = PlaceOfStage(config, mesh.StageOf(rank));
  parallel.tensor = TensorParallel(*groups.tensor, layout.sequence_parallel);
  parallel.context = ContextParallel(*groups.context, ContextExchangeOf(config));
  if (groups.expert != nullptr) {
    parallel.expert = ExpertParallel(*groups.expert, mesh.expert_sizes().etp,
                                     layout.moe_token_dispatcher_type);
  }
  return parallel;
}

AttentionKernel KernelOf(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::kCudnn:
      return AttentionKernel::kCudnn;
    case AttentionBackend::kFlash:
      return AttentionKernel::kFlash;
    case AttentionBackend::kSdpa:
      return AttentionKernel::kSdpa;
    case AttentionBackend::kManual:
      return AttentionKernel::kManual;
    default:
      return AttentionKernel::kAuto;
  }
}

Fp8Options Fp8OptionsOf(const RunConfig& config, const RankGroups& groups) {
  return {.recipe = config.train.fp8,
          .history_length = std::max<int64_t>(config.train.fp8_amax_history_len, 1),
          .algorithm = config.train.fp8_amax_compute_algo,
          .dense = Fp8MatricesOf(config, BlockKind::kDense),
          .expert = Fp8MatricesOf(config, BlockKind::kExpert),
          .world = groups.world.get()};
}

}  // namespace

torch::ScalarType StoredType(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return torch::kFloat32;
    case Precision::kBf16:
      return torch::kBFloat16;
    case Precision::kFp16:
      return torch::kHalf;
  }
  return torch::kFloat32;
}

DecoderOptions ModelOptions(const RunConfig& config, const Mesh& mesh, int64_t rank,
                            const RankGroups& groups, torch::Device device) {
  const bool is_reproducible = config.train.deterministic;
  return {.type = StoredType(config.train.precision),
          .device = device,
          .blocks = {.recompute = config.layout.recompute,
                     .reproducible = is_reproducible ? Reproducible::kYes : Reproducible::kNo,
                     .attention = KernelOf(AttentionBackendOf(config))},
          .documents = {.end_token = config.data.eod_token,
                        .reset_attention = config.data.reset_attention_mask,
                        .reset_positions = config.data.reset_position_ids},
          .recomputed_layers = config.layout.recompute_num_layers,
          .seed = config.train.seed,
          .parts = {.zero = config.layout.zero,
                    .kept = {PartsOf(ParameterKind::kDense, config.layout, groups),
                             PartsOf(ParameterKind::kExpert, config.layout, groups)}},
          .parallel = ParallelOf(config, mesh, rank, groups),
          .fp8 = Fp8OptionsOf(config, groups)};
}

}  // namespace trainyard::trainer
