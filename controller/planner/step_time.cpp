#include "controller/planner/step_time.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "controller/planner/collective_seconds.h"
#include "controller/planner/device_rates.h"
#include "proto/layout/pipeline_place.h"
#include "proto/layout/rank_order.h"
#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

// Saved memory traffic per parameter if one moment is in bf16 instead of fp32: 2 bytes less are
// read and 2 bytes less are written.
constexpr double kMomentBytes = 4;
// Additional traffic per fp16 parameter. The update reads and writes its 4-byte master weight and
// writes its value. For a bf16 parameter it reads and writes the value and the low bits.
constexpr double kFp16MasterBytes = 2;

// Returns the seconds that a stage needs for these layers and one micro-batch. The result does not
// depend on the schedule.
PassParts BlocksPass(double layers, double recomputed_layers, const RunConfig& config,
                     const PassSeconds& pass, const TrainerProfile& profile) {
  PassParts parts = layers * (pass.block_forward + pass.block_backward);
  if (config.layout.zero_bubble) {
    parts.compute += profile.zero_bubble_work * layers * pass.block_backward.compute;
  }
  const Recompute recompute = config.layout.recompute;
  if (recompute == Recompute::kSelective) parts += recomputed_layers * pass.block_selective;
  if (recompute == Recompute::kFull) parts += recomputed_layers * pass.block_full;
  return parts;
}

// Returns the seconds of multi-token prediction, without its blocks, which StageLoad contains.
PassParts MtpPass(const RunConfig& config, const PassSeconds& pass) {
  return static_cast<double>(config.model.mtp_num_layers) * (pass.embedding + pass.mtp + pass.head);
}

// Assumes that layers with experts and other layers are recomputed in the same proportion.
PassParts StagePass(const StageLoad& load, const RunConfig& config, const PlannedPass& pass,
                    const TrainerProfile& profile) {
  const double dense = load.layers - load.expert_layers;
  const double part = load.layers > 0 ? load.recomputed_layers / load.layers : 0;
  PassParts parts = BlocksPass(dense, part * dense, config, pass.seconds, profile) +
                    BlocksPass(load.expert_layers, part * load.expert_layers, config,
                               pass.expert_seconds, profile);
  if (load.has_embedding) parts += pass.seconds.embedding;
  if (load.has_head) parts += pass.seconds.head + MtpPass(config, pass.seconds);
  return parts;
}

double Passes(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  return static_cast<double>(config.train.global_batch) /
         static_cast<double>(layout.micro_batch * std::max<int64_t>(layout.dp, 1));
}

// Returns the idle time of the busiest stage (the pipeline bubble): the time that the other stages
// need for one micro-batch, divided by the number of chunks per stage (Narayanan et al. 2021).
// Deferred weight gradients shorten the bubble further (Qi et al. 2024): ZB-H1 leaves a third if
// forward pass, input gradients and weight gradients take equally long.
double BubbleSeconds(const RunConfig& config, double all_stages, double busiest,
                     const TrainerProfile& profile) {
  const LayoutConfig& layout = config.layout;
  const double bubble = (all_stages - busiest) / static_cast<double>(layout.vpp);
  return layout.zero_bubble ? profile.zero_bubble_left * bubble : bubble;
}

// Returns the time for sending activations and their gradients between stages.
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

// The number of parameters of one rank, by StateGroup.
struct RankParameters {
  double dense = 0;
  double expert = 0;

  double Sum() const { return dense + expert; }
};

// Returns the number of tables of a stage. For multi-token prediction, a last stage with an untied
// head also has a copy of the token table.
double TablesOf(const ModelConfig& model, const StageLoad& load) {
  const bool has_copy = load.has_head && !load.has_embedding && model.mtp_num_layers > 0 &&
                        model.untie_embeddings_and_output_weights;
  return (load.has_embedding ? 1 : 0) + (load.has_head ? 1 : 0) + (has_copy ? 1 : 0);
}

// Returns the parameters of the stage that has the most.
RankParameters Parameters(const ModelConfig& model, const PlannedPass& pass,
                          const std::vector<StageLoad>& loads) {
  const auto projections = static_cast<double>(model.mtp_num_layers * MtpProjectionCount(model));
  RankParameters most;
  for (const StageLoad& load : loads) {
    const double dense_layers = load.layers - load.expert_layers;
    const RankParameters held = {
        dense_layers * pass.block_parameters + load.expert_layers * pass.expert_block_parameters +
            TablesOf(model, load) * pass.work.TableParameters() + (load.has_head ? projections : 0),
        load.expert_layers * pass.expert_parameters};
    if (held.Sum() > most.Sum()) most = held;
  }
  return most;
}

// A group of ranks that have the same weights. Consecutive members are `stride` ranks apart.
struct StateGroup {
  double parameters = 0;
  int64_t size = 1;
  int64_t stride = 1;
};

// Returns two groups: the ranks that share the dense weights (all except experts), and the ranks
// that share this rank's experts.
std::array<StateGroup, 2> StateGroupsOf(const RunConfig& config, const RankParameters& parameters) {
  const LayoutConfig& layout = config.layout;
  const ExpertSizes experts = ExpertSizesOf(layout);
  return {StateGroup{parameters.dense, std::max<int64_t>(layout.dp, 1) * layout.cp, layout.tp},
          StateGroup{parameters.expert, experts.edp, experts.ranks()}};
}

struct DataTransfers {
  double gradients = 0;  // Bytes of gradients reduced per step.
  double weights = 0;    // Bytes of weights all-gathered per step.
  double rounds = 1;     // Number of micro-batches during which the transfers run.
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

double SecondsOf(const DataTransfers& transfers, const GroupLinks& group) {
  const double reduced = transfers.all_reduces ? group.AllReduceSeconds(transfers.gradients)
                                               : group.GatherSeconds(transfers.gradients);
  return reduced + (transfers.weights > 0 ? group.GatherSeconds(transfers.weights) : 0);
}

// Returns the time that data-parallel transfers add to a step. The transfers run during the passes
// of `rounds` micro-batches. The transfers slow these passes down by data_exposed times the
// duration that the transfers would have within one node. If the transfers take longer than the
// passes, the rest is added as a wait.
double DataSeconds(const RunConfig& config, const std::array<StateGroup, 2>& groups,
                   const PassParts& pass, double element, const Cluster& cluster,
                   const TrainerProfile& profile) {
  double near_seconds = 0, seconds = 0, rounds = 1;
  for (const StateGroup& group : groups) {
    if (group.size == 1 || group.parameters == 0) continue;
    const GroupPlace place = PlaceOfGroup(group.size, group.stride, cluster);
    const DataTransfers transfers = TransfersOf(config, group.parameters, element, profile);
    near_seconds += SecondsOf(transfers, GroupLinks({place.size(), 1}, cluster, profile));
    seconds += SecondsOf(transfers, GroupLinks(place, cluster, profile));
    rounds = transfers.rounds;
  }
  return profile.data_exposed * near_seconds + std::max(0.0, seconds - rounds * pass.Total());
}

double OptimizerSeconds(const RunConfig& config, const std::array<StateGroup, 2>& groups,
                        const Cluster& cluster, const TrainerProfile& profile) {
  double owned = 0;
  for (const StateGroup& group : groups) {
    owned += config.layout.zero > 0 ? group.parameters / static_cast<double>(group.size)
                                    : group.parameters;
  }
  double bytes = profile.bytes_per_parameter + profile.bytes_per_norm_gradient;
  if (config.train.precision == Precision::kFp16) bytes += kFp16MasterBytes;
  if (config.optimizer.exp_avg_dtype == Precision::kBf16) bytes -= kMomentBytes;
  if (config.optimizer.exp_avg_sq_dtype == Precision::kBf16) bytes -= kMomentBytes;
  return owned * bytes / MemoryRate(cluster, profile) + profile.seconds_per_step;
}

// A rank reads the next step's samples during the current step, so the rank waits only if reading
// takes longer than the step.
double InputWait(const RunConfig& config, const Cluster& cluster, double step_seconds) {
  if (cluster.storage == nullptr) return 0;
  constexpr double kTokenBytes = 4;
  const double samples = static_cast<double>(config.train.global_batch) /
                         static_cast<double>(std::max<int64_t>(config.layout.dp, 1));
  const double bytes = kTokenBytes * static_cast<double>(config.train.seq_length);
  const Storage& storage = *cluster.storage;
  const double reading = samples * (storage.seconds_per_sample + bytes / storage.bandwidth);
  return std::max(0.0, reading - step_seconds);
}

}  // namespace

StepTime Scaled(const StepScale& scale, StepTime step) {
  step.compute *= scale.compute;
  step.optimizer *= scale.optimizer;
  step.tensor_wait *= scale.tensor_wait;
  step.context_wait *= scale.context_wait;
  step.expert_wait *= scale.expert_wait;
  step.pipeline_wait *= scale.pipeline_wait;
  step.data_wait *= scale.data_wait;
  step.world_wait *= scale.world_wait;
  return step;
}

bool StageLoad::IsLike(const StageLoad& other) const {
  return layers == other.layers && expert_layers == other.expert_layers &&
         recomputed_layers == other.recomputed_layers && has_embedding == other.has_embedding &&
         has_head == other.has_head;
}

namespace {

// Adds the blocks of multi-token prediction. If the model has experts, these blocks do too.
void AddMtpLayers(const ModelConfig& model, StageLoad& load) {
  const auto modules = static_cast<double>(model.mtp_num_layers);
  load.layers += modules;
  load.recomputed_layers += modules;
  if (HasExperts(model)) load.expert_layers += modules;
}

}  // namespace

std::vector<StageLoad> LoadsOfStages(const RunConfig& config, bool balances_head) {
  const LayoutConfig& layout = config.layout;
  const int64_t limit = layout.recompute_num_layers;
  std::vector<StageLoad> loads;
  for (int64_t stage = 0; stage < layout.pp; ++stage) {
    PipelinePlace place = PlaceOfStage(config, stage);
    if (!balances_head) place.head_layers = 0;
    StageLoad load;
    for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
      const IndexRange range = place.Layers(config.model.num_layers, chunk);
      const int64_t layers = range.length;
      load.layers += static_cast<double>(layers);
      load.expert_layers += static_cast<double>(KindsOf(config.model, range).expert);
      load.recomputed_layers += static_cast<double>(limit > 0 ? std::min(limit, layers) : layers);
      load.has_embedding |= place.HasEmbedding(chunk);
      load.has_head |= place.HasHead(chunk);
    }
    if (load.has_head) AddMtpLayers(config.model, load);
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
  pass.block_parameters = pass.work.BlockParameters();
  if (!HasExperts(config.model)) return pass;
  pass.expert_work = ExpertWorkOf(config);
  pass.expert_seconds = SecondsOfPass(pass.expert_work, config, cluster, profile);
  pass.expert_block_parameters = pass.expert_work.BlockParameters();
  pass.expert_parameters = pass.expert_work.ExpertParameters();
  return pass;
}

StepTime SecondsOfStep(const RunConfig& config, const PlannedPass& pass,
                       const std::vector<StageLoad>& loads, const Cluster& cluster,
                       const TrainerProfile& profile) {
  StepTime step;
  PassParts busiest;
  double all_stages = 0;
  for (const StageLoad& load : loads) {
    const PassParts parts = StagePass(load, config, pass, profile);
    all_stages += load.stages * parts.Total();
    if (load.stage > 0 && parts.Total() <= busiest.Total()) continue;
    busiest = parts;
    step.stage = load.stage;
  }
  const PassParts work = Passes(config) * busiest;
  const std::array<StateGroup, 2> groups =
      StateGroupsOf(config, Parameters(config.model, pass, loads));
  step.compute = work.compute;
  step.tensor_wait = work.tensor;
  step.context_wait = work.context;
  step.expert_wait = work.expert;
  step.pipeline_wait = BubbleSeconds(config, all_stages, busiest.Total(), profile) +
                       BoundarySeconds(config, pass.work, cluster, profile);
  step.data_wait = DataSeconds(config, groups, busiest, pass.work.element, cluster, profile);
  step.optimizer = OptimizerSeconds(config, groups, cluster, profile);
  step.world_wait =
      profile.per_doubling * std::log2(static_cast<double>(cluster.nodes)) * step.Total();
  step = Scaled(cluster.scale, step);
  step.input_wait = InputWait(config, cluster, step.Total());
  return step;
}

StepTime PredictStep(const RunConfig& config, const Cluster& cluster) {
  const TrainerProfile& profile = TrainyardProfile();
  return SecondsOfStep(config, PlanPass(config, cluster, profile),
                       LoadsOfStages(config, /*balances_head=*/true), cluster, profile);
}

}  // namespace trainyard::planner
