#include "controller/planner/answer/layout_message.h"

#include <cmath>
#include <string>
#include <vector>

#include "controller/planner/figures.h"
#include "controller/planner/run_cost.h"
#include "controller/planner/run_estimate.h"
#include "controller/planner/scaling_law.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/layout/layout_text.h"
#include "proto/layout/rank_order.h"
#include "proto/memory/memory_advice.h"
#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

int64_t PlannableBytes(const Cluster& cluster, const PlannedLayout& planned) {
  const auto bytes = static_cast<double>(cluster.device->rating->memory_bytes);
  return std::llround(bytes - planned.memory.Reserve());
}

v1::PlannedCluster ClusterMessage(const Cluster& cluster) {
  const int64_t bytes = cluster.device->rating->memory_bytes;
  v1::PlannedCluster message;
  message.set_device(std::string(cluster.device->rating->name));
  message.set_device_bytes(bytes);
  message.set_plannable_bytes(std::llround(static_cast<double>(bytes) / (1 + kMemoryMargin)));
  message.set_nodes(cluster.nodes);
  message.set_per_node(cluster.per_node);
  message.set_devices(cluster.devices());
  message.set_network(std::string(cluster.network.name));
  message.set_node_link(std::string(cluster.device->node_link.name));
  return message;
}

v1::PlannedRun RunMessage(const LayoutPlan& plan) {
  const RunConfig& config = plan.config;
  v1::PlannedRun message;
  message.set_parameters(ParameterCount(config.model));
  message.set_seq_length(config.train.seq_length);
  message.set_global_batch(config.train.global_batch);
  message.set_steps(config.train.steps);
  return message;
}

v1::PlannedStep StepMessage(const StepTime& step) {
  v1::PlannedStep message;
  message.set_stage(step.stage);
  message.set_step_seconds(step.Total());
  message.set_compute_seconds(step.compute);
  message.set_optimizer_seconds(step.optimizer);
  message.set_tp_wait_seconds(step.tensor_wait);
  message.set_cp_wait_seconds(step.context_wait);
  message.set_ep_wait_seconds(step.expert_wait);
  message.set_pp_wait_seconds(step.pipeline_wait);
  message.set_dp_wait_seconds(step.data_wait);
  message.set_world_wait_seconds(step.world_wait);
  message.set_input_wait_seconds(step.input_wait);
  return message;
}

v1::PlannedMemory MemoryMessage(const PlannedLayout& planned) {
  const MemoryPrediction& memory = planned.memory;
  v1::PlannedMemory message;
  message.set_stage(planned.memory_stage);
  message.set_total_bytes(std::llround(memory.Total()));
  message.set_weights_bytes(std::llround(memory.weights));
  message.set_gradients_bytes(std::llround(memory.gradients));
  message.set_moments_bytes(std::llround(memory.moments));
  message.set_activations_bytes(std::llround(memory.activations));
  message.set_dispatch_bytes(std::llround(memory.dispatch));
  message.set_working_bytes(std::llround(memory.working));
  message.set_overhead_bytes(std::llround(memory.overhead));
  return message;
}

void AddStages(const LayoutPlan& plan, v1::PlanLayoutResponse& response) {
  for (const StagePlace& place : PlacesOfStages(plan.config, plan.cluster)) {
    v1::PlannedStage& stage = *response.add_stages();
    stage.set_first_rank(place.first_rank);
    stage.set_last_rank(place.last_rank);
    stage.set_first_node(place.first_node);
    stage.set_last_node(place.last_node);
    stage.set_layers(place.layers);
  }
}

void AddRankAxes(const LayoutConfig& layout, v1::PlanLayoutResponse& response) {
  const RankGrid grid({layout.tp, layout.cp, layout.dp, layout.pp});
  int64_t stride = 1;
  const auto add = [&](const char* name, int64_t size) {
    v1::RankAxis& axis = *response.add_rank_axes();
    axis.set_name(name);
    axis.set_size(size);
    axis.set_stride(stride);
    stride *= size;
  };
  add("tp", grid.Extent(Axis::kTensor));
  add("cp", grid.Extent(Axis::kContext));
  add("dp", grid.Extent(Axis::kData));
  add("pp", grid.Extent(Axis::kPipeline));
}

std::vector<CloudPrice> PricesFor(const Cluster& cluster, double price) {
  if (price > 0) return {{"given price", "", price, price, "now", "the request"}};
  return PricesOf(cluster.device->rating->name);
}

void AddCosts(const std::vector<CloudPrice>& prices, double device_hours,
              v1::PlanLayoutResponse& response) {
  for (const CloudPrice& price : prices) {
    v1::PlannedCost& cost = *response.add_costs();
    cost.set_cloud(std::string(price.cloud));
    for (const double rate : {price.low, price.high}) {
      cost.add_dollars_per_gpu_hour(rate);
      cost.add_dollars(rate * device_hours);
    }
    cost.set_date(std::string(price.date));
    cost.set_source(std::string(price.source));
  }
}

// The number of points of a plotted line.
constexpr int kPoints = 41;
// A goodput plot ranges from the best checkpoint interval divided by this factor to the best
// interval multiplied by it.
constexpr double kIntervalSpan = 30;

void AddIntervals(double best, double devices, v1::PlannedFailures& message) {
  for (const double interval : EvenFactors(best / kIntervalSpan, best * kIntervalSpan, kPoints)) {
    v1::PlannedInterval& point = *message.add_by_interval();
    point.set_checkpoint_interval_seconds(interval);
    point.set_goodput(ReliabilityOf(1, devices, interval, {}).goodput);
  }
}

v1::PlannedFailures FailuresMessage(const RunEstimate& run, const Cluster& cluster) {
  const auto devices = static_cast<double>(cluster.devices());
  const Reliability known = ReliabilityOf(run.days * 86400, devices, 0, {});
  v1::PlannedFailures message;
  message.set_days(known.seconds / 86400);
  message.set_device_hours(known.seconds / 3600 * devices);
  message.set_failures(known.failures);
  message.set_goodput(known.goodput);
  message.set_checkpoint_interval_seconds(known.interval_seconds);
  message.set_seconds_between_failures(known.mean_seconds_between);
  AddIntervals(known.interval_seconds, devices, message);
  return message;
}

// A loss plot ranges from kBudgetLow to kBudgetHigh times the run's FLOPs.
constexpr double kBudgetLow = 1e-3;
constexpr double kBudgetHigh = 100;

v1::PlannedLoss LossMessage(double parameters, double tokens) {
  v1::PlannedLoss message;
  const double flops = 6 * parameters * tokens;
  const Optimum best = LossMinimum(flops);
  message.set_loss(LossOf(parameters, tokens));
  message.set_flops(flops);
  message.set_least_loss(best.loss);
  message.set_optimal_parameters(best.parameters);
  message.set_optimal_tokens(best.tokens);
  for (const double budget : EvenFactors(flops * kBudgetLow, flops * kBudgetHigh, kPoints)) {
    const double seen = budget / 6 / parameters;
    v1::PlannedLossPoint& point = *message.add_by_flops();
    point.set_flops(budget);
    if (seen >= parameters) point.set_loss(LossOf(parameters, seen));
    point.set_least_loss(LossMinimum(budget).loss);
  }
  return message;
}

void AddRun(const LayoutPlan& plan, double price, v1::PlanLayoutResponse& response) {
  const RunEstimate run = EstimateOf(plan.config, plan.cluster, plan.Planned().step.Total());
  response.set_tokens_per_second(run.tokens_per_second);
  response.set_mfu(run.mfu);
  response.set_tokens(std::llround(run.tokens));
  response.set_days(run.days);
  response.set_device_hours(run.device_hours);
  AddCosts(PricesFor(plan.cluster, price), run.device_hours, response);
  *response.mutable_failures() = FailuresMessage(run, plan.cluster);
  const int64_t parameters = response.run().parameters();
  const bool is_dense = !HasExperts(plan.config.model);
  if (is_dense && parameters > 0 && run.tokens > 0) {
    *response.mutable_loss() = LossMessage(static_cast<double>(parameters), run.tokens);
  }
}

void AddPlanned(const LayoutPlan& plan, double price, v1::PlanLayoutResponse& response) {
  const PlannedLayout& best = plan.Planned();
  *response.mutable_layout() = LayoutSpecOf(best.layout);
  response.set_layout_text(LayoutText(best.layout));
  *response.mutable_step() = StepMessage(best.step);
  *response.mutable_memory() = MemoryMessage(best);
  response.mutable_cluster()->set_plannable_bytes(PlannableBytes(plan.cluster, best));
  AddStages(plan, response);
  AddRankAxes(best.layout, response);
  AddRun(plan, price, response);
}

void Fill(const PlannedLayout& planned, bool is_predicted, v1::PlannedLayout& message) {
  *message.mutable_layout() = LayoutSpecOf(planned.layout);
  message.set_layout_text(LayoutText(planned.layout));
  if (!is_predicted) return;
  *message.mutable_step() = StepMessage(planned.step);
  *message.mutable_memory() = MemoryMessage(planned);
}

void AddWritten(const WrittenLayout& written, v1::PlanLayoutResponse& response) {
  Fill(written.planned, written.is_predicted, *response.mutable_written_layout());
  if (!written.problem.empty()) response.set_written_problem(written.problem);
}

void AddOthers(const LayoutSearch& search, v1::PlanLayoutResponse& response) {
  for (const PlannedLayout& planned : search.pareto) {
    Fill(planned, /*is_predicted=*/true, *response.add_pareto());
  }
  for (const auto& [reason, count] : ReasonsOf(search)) {
    v1::LayoutsNotChosen& lost = *response.add_not_chosen();
    lost.set_reason(reason);
    lost.set_layouts(count);
  }
}

void SetProblem(const LayoutProblem& problem, v1::PlanLayoutResponse& response) {
  response.set_problem(problem.message);
  response.set_advice(problem.advice);
  if (problem.fewest_nodes.has_value()) response.set_fewest_nodes(*problem.fewest_nodes);
}

}  // namespace

v1::PlanLayoutResponse LayoutMessage(const LayoutPlan& plan, double price) {
  v1::PlanLayoutResponse response;
  response.set_name(plan.config.name);
  *response.mutable_cluster() = ClusterMessage(plan.cluster);
  *response.mutable_run() = RunMessage(plan);
  response.set_layouts_tried(plan.search.tried);
  for (const std::string& warning : plan.warnings) response.add_warnings(warning);
  if (plan.problem.has_value()) SetProblem(*plan.problem, response);
  for (const std::string& note : {plan.cluster.device_note, plan.note}) {
    if (!note.empty()) response.add_notes(note);
  }
  if (!plan.problem.has_value()) AddPlanned(plan, price, response);
  if (plan.written.has_value()) AddWritten(*plan.written, response);
  AddOthers(plan.search, response);
  return response;
}

v1::GetPlannerResponse PlannerTables() {
  v1::GetPlannerResponse response;
  for (const DeviceSpec& spec : KnownDeviceSpecs()) {
    v1::PlannerDevice& device = *response.add_devices();
    device.set_name(std::string(spec.rating->name));
    device.set_memory_bytes(spec.rating->memory_bytes);
    device.set_node_link(std::string(spec.node_link.name));
    device.set_network(std::string(spec.network));
  }
  for (const Link& link : KnownNetworks()) {
    v1::PlannerNetwork& network = *response.add_networks();
    network.set_name(std::string(link.name));
    network.set_bytes_per_second(link.bandwidth);
  }
  response.set_max_nodes(kMaxRanks);
  response.set_max_per_node(kMaxSlotsOfNode);
  response.set_max_devices(kMaxRanks);
  response.set_usual_per_node(kUsualPerNode);
  return response;
}

}  // namespace trainyard::planner
