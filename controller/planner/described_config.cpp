#include "controller/planner/described_config.h"

#include <algorithm>
#include <cmath>

#include "controller/planner/run_review.h"

namespace trainyard::planner {
namespace {

int64_t ActiveWidth(const DescribedModel& model) {
  return model.experts.topk * ExpertWidth(model) + model.experts.shared_ffn_hidden_size;
}

LayoutConfig LayoutOf(const DescribedRun& run) {
  const DescribedLayout& described = run.layout;
  LayoutConfig layout;
  layout.tp = described.tensor;
  layout.cp = described.context;
  layout.pp = described.pipeline;
  layout.ep = described.expert;
  layout.dp = std::max<int64_t>(
      described.gpus / (described.tensor * described.context * described.pipeline), 1);
  layout.vpp = described.chunks;
  layout.zero = layout.dp * layout.cp > 1 ? described.zero : 0;
  layout.recompute = described.recompute;
  layout.micro_batch = std::max<int64_t>(run.batch.micro_batch, 1);
  return layout;
}

}  // namespace

std::string MissingForPlan(const DescribedRun& run) {
  if (!run.has_model) return "num-layers";
  if (run.batch.seq_length == 0) return "seq-length";
  if (run.batch.global_batch == 0) return "global-batch-size";
  return TokensOf(run.batch) > 0 ? "" : "train-iters";
}

RunConfig ConfigOf(const DescribedRun& run) {
  RunConfig config;
  config.name = run.name;
  config.model = run.model.dense;
  if (run.model.experts.count > 0 && run.model.experts.dense_layers == 0) {
    config.model.ffn_hidden_size = ActiveWidth(run.model);
  }
  config.train.seq_length = run.batch.seq_length;
  config.train.global_batch = run.batch.global_batch;
  const double step = static_cast<double>(run.batch.seq_length * run.batch.global_batch);
  config.train.steps = std::max<int64_t>(std::llround(TokensOf(run.batch) / step), 1);
  config.layout = LayoutOf(run);
  const int64_t gpus = std::max<int64_t>(run.layout.gpus, 1);
  config.resources.slots_per_node = std::min(gpus, kDescribedPerNode);
  config.resources.nodes = gpus / config.resources.slots_per_node;
  config.resources.device = DeviceKind::kGpu;
  return config;
}

DescribedParts PartsOf(const DescribedRun& run) {
  DescribedParts parts;
  parts.experts = run.model.experts;
  if (parts.experts.count > 0) parts.experts.ffn_hidden_size = ExpertWidth(run.model);
  parts.latent = run.model.latent;
  parts.has_whole_experts = run.layout.expert_tensor == 1;
  parts.is_fp8 = run.is_fp8;
  return parts;
}

}  // namespace trainyard::planner
