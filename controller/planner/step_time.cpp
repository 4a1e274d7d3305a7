#include "controller/planner/step_time.h"

#include <algorithm>
#include <cmath>

#include "controller/planner/collective_seconds.h"
#include "proto/contract/pipeline_place.h"

namespace trainyard::planner {
namespace {

constexpr double kMomentBytes = 4;  // Saved where a moment is read and written in bf16.

// Work of a stage for one micro-batch, without the schedule.
PassParts StagePass(const StageLoad& load, const RunConfig& config, const PassSeconds& pass,
                    const TrainerProfile& profile) {
  PassParts parts = load.layers * (pass.block_forward + pass.block_backward);
  if (config.layout.zero_bubble) {
    parts.compute += profile.zero_bubble_work * load.layers * pass.block_backward.compute;
  }
  const Recompute recompute = config.layout.recompute;
  if (recompute == Recompute::kSelective) parts += load.recomputed_layers * pass.block_selective;
  if (recompute == Recompute::kFull) parts += load.recomputed_layers * pass.block_full;
  if (load.has_embedding) parts += pass.embedding;
  if (load.has_head) parts += pass.head;
  return parts;
}

double Passes(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  return static_cast<double>(config.train.global_batch) /
         static_cast<double>(layout.micro_batch * std::max<int64_t>(layout.dp, 1));
}

// Idle time of the busiest stage: each other stage's work for one micro-batch, of which several
// chunks a stage leave a part (Narayanan et al. 2021), and deferred weight gradients another one
// (Qi et al. 2024, ZB-H1: a third, where forward pass, input and weight gradients take the same).
double BubbleSeconds(const RunConfig& config, double all_stages, double busiest,
                     const TrainerProfile& profile) {
  const LayoutConfig& layout = config.layout;
  const double bubble = (all_stages - busiest) / static_cast<double>(layout.vpp);
  return layout.zero_bubble ? profile.zero_bubble_left * bubble : bubble;
}

// Activations and their gradients between the stages.
double BoundarySeconds(const RunConfig& config, const BlockWork& work, const Cluster& cluster,
                       const TrainerProfile& profile) {
  const LayoutConfig& layout = config.layout;
  if (layout.pp == 1) return 0;
  const int64_t stride = layout.tp * layout.cp * std::max<int64_t>(layout.dp, 1);
  const GroupLinks links(PlaceOfGroup(layout.pp, stride, cluster), cluster, profile);
  const double rows =
      profile.scatters_boundaries ? work.rows / static_cast<double>(layout.tp) : work.norm_rows;
  const double send = links.SendSeconds(work.element * rows * work.hidden);
  const double sends = 2 * Passes(config) * static_cast<double>(layout.vpp);
  return send * (profile.pipeline_exposed * sends + 2 * static_cast<double>(layout.pp - 1));
}

// Of the stage that holds the most.
double Parameters(const BlockWork& work, const std::vector<StageLoad>& loads) {
  double most = 0;
  for (const StageLoad& load : loads) {
    const double tables = (load.has_embedding ? 1 : 0) + (load.has_head ? 1 : 0);
    most = std::max(most, load.layers * work.BlockParameters() + tables * work.TableParameters());
  }
  return most;
}

struct DataTransfers {
  double gradients = 0;  // Bytes that are reduced and scattered in a step.
  double weights = 0;    // Bytes that are gathered in a step.
  double rounds = 1;     // Micro-batches under which they travel.
  bool all_reduces = false;
};

DataTransfers TransfersOf(const RunConfig& config, double parameters, double element,
                          const TrainerProfile& profile) {
  const double gradients = profile.gradient_bytes * parameters;
  const double weights = element * parameters;
  const double passes = Passes(config);
  switch (config.layout.zero) {
    case 0:
      return {.gradients = gradients, .all_reduces = true};
    case 1:
      return {.gradients = gradients, .weights = weights};
    case 2:
      return {.gradients = passes * gradients, .weights = weights, .rounds = passes};
    default:
      return {.gradients = passes * gradients, .weights = 2 * passes * weights, .rounds = passes};
  }
}

// Transfers beside the passes of `rounds` micro-batches: what a node's link would take slows the
// passes down, and what does not fit under them is waited for.
double DataSeconds(const RunConfig& config, double parameters, double element, double pass_seconds,
                   const Cluster& cluster, const TrainerProfile& profile) {
  const LayoutConfig& layout = config.layout;
  const int64_t alike = std::max<int64_t>(layout.dp, 1) * layout.cp;
  if (alike == 1) return 0;
  const GroupPlace place = PlaceOfGroup(alike, layout.tp, cluster);
  const GroupLinks links(place, cluster, profile);
  const GroupLinks near({place.size(), 1}, cluster, profile);
  const DataTransfers transfers = TransfersOf(config, parameters, element, profile);
  const auto seconds = [&transfers](const GroupLinks& group) {
    const double reduced = transfers.all_reduces ? group.AllReduceSeconds(transfers.gradients)
                                                 : group.GatherSeconds(transfers.gradients);
    return reduced + (transfers.weights > 0 ? group.GatherSeconds(transfers.weights) : 0);
  };
  const double window = transfers.rounds * pass_seconds;
  return profile.data_exposed * seconds(near) + std::max(0.0, seconds(links) - window);
}

double OptimizerSeconds(const RunConfig& config, double parameters, const Cluster& cluster,
                        const TrainerProfile& profile) {
  const LayoutConfig& layout = config.layout;
  const double alike = static_cast<double>(std::max<int64_t>(layout.dp, 1) * layout.cp);
  const double owned = layout.zero > 0 ? parameters / alike : parameters;
  double bytes = profile.bytes_per_parameter + profile.bytes_per_norm_gradient;
  if (config.optimizer.exp_avg_dtype == Precision::kBf16) bytes -= kMomentBytes;
  if (config.optimizer.exp_avg_sq_dtype == Precision::kBf16) bytes -= kMomentBytes;
  return owned * bytes / MemoryRate(cluster, profile) + profile.seconds_per_step;
}

}  // namespace

StepTime Scaled(const StepScale& scale, StepTime step) {
  step.compute *= scale.compute;
  step.optimizer *= scale.optimizer;
  step.tensor_wait *= scale.tensor_wait;
  step.context_wait *= scale.context_wait;
  step.pipeline_wait *= scale.pipeline_wait;
  step.data_wait *= scale.data_wait;
  step.world_wait *= scale.world_wait;
  return step;
}

bool StageLoad::IsLike(const StageLoad& other) const {
  return layers == other.layers && recomputed_layers == other.recomputed_layers &&
         has_embedding == other.has_embedding && has_head == other.has_head;
}

std::vector<StageLoad> LoadsOfStages(const RunConfig& config, bool balances_head) {
  const LayoutConfig& layout = config.layout;
  const int64_t limit = layout.recompute_num_layers;
  std::vector<StageLoad> loads;
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    PipelinePlace place = PlaceOfStage(config, stage);
    if (!balances_head) place.head_layers = 0;
    StageLoad load;
    for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
      const int64_t layers = place.Layers(config.model.num_layers, chunk).length;
      load.layers += static_cast<double>(layers);
      load.recomputed_layers += static_cast<double>(limit > 0 ? std::min(limit, layers) : layers);
      load.has_embedding |= place.HasEmbedding(chunk);
      load.has_head |= place.HasHead(chunk);
    }
    load.stage = stage;
    if (!loads.empty() && load.IsLike(loads.back())) {
      loads.back().stages += 1;
    } else {
      loads.push_back(load);
    }
  }
  return loads;
}

PlannedPass PlanPass(const RunConfig& config, const Cluster& cluster,
                     const TrainerProfile& profile) {
  PlannedPass pass;
  pass.work = WorkOf(config);
  pass.seconds = SecondsOfPass(pass.work, config, cluster, profile);
  return pass;
}

StepTime SecondsOfStep(const RunConfig& config, const PlannedPass& pass,
                       const std::vector<StageLoad>& loads, const Cluster& cluster,
                       const TrainerProfile& profile) {
  StepTime step;
  PassParts busiest;
  double all_stages = 0;
  for (const StageLoad& load : loads) {
    const PassParts parts = StagePass(load, config, pass.seconds, profile);
    all_stages += load.stages * parts.Total();
    if (load.stage > 0 && parts.Total() <= busiest.Total()) continue;
    busiest = parts;
    step.stage = load.stage;
  }
  const PassParts work = Passes(config) * busiest;
  const double parameters = Parameters(pass.work, loads);
  step.compute = work.compute;
  step.tensor_wait = work.tensor;
  step.context_wait = work.context;
  step.pipeline_wait = BubbleSeconds(config, all_stages, busiest.Total(), profile) +
                       BoundarySeconds(config, pass.work, cluster, profile);
  step.data_wait =
      DataSeconds(config, parameters, pass.work.element, busiest.Total(), cluster, profile);
  step.optimizer = OptimizerSeconds(config, parameters, cluster, profile);
  step.world_wait =
      profile.per_doubling * std::log2(static_cast<double>(cluster.nodes)) * step.Total();
  return Scaled(cluster.scale, step);
}

StepTime PredictStep(const RunConfig& config, const Cluster& cluster) {
  const TrainerProfile& profile = TrainyardProfile();
  return SecondsOfStep(config, PlanPass(config, cluster, profile),
                       LoadsOfStages(config, /*balances_head=*/true), cluster, profile);
}

}  // namespace trainyard::planner
