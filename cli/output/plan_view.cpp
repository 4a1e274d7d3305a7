#include "cli/output/plan_view.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/readable.h"
#include "controller/planner/run_cost.h"
#include "controller/planner/run_estimate.h"
#include "proto/contract/layout_text.h"
#include "proto/contract/memory_advice.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::cli {
namespace {

// Stages and layouts that a terminal shows; documents have all.
constexpr size_t kMostStages = 12;
constexpr size_t kMostLayouts = 8;

struct Part {
  const char* label;
  const char* key;
  double value;
};

// By the keys of telemetry, so that a run's own parts can be laid beside them.
std::vector<Part> PartsOf(const planner::StepTime& step) {
  return {{"compute", telemetry::kComputeSeconds, step.compute},
          {"optimizer", telemetry::kOptimizerSeconds, step.optimizer},
          {"wait: tensor parallel", telemetry::kTensorWaitSeconds, step.tensor_wait},
          {"wait: context parallel", telemetry::kContextWaitSeconds, step.context_wait},
          {"wait: pipeline", telemetry::kPipelineWaitSeconds, step.pipeline_wait},
          {"wait: data parallel", telemetry::kDataWaitSeconds, step.data_wait},
          {"wait: slowest node", telemetry::kWorldWaitSeconds, step.world_wait}};
}

std::vector<Part> PartsOf(const MemoryPrediction& memory) {
  return {{"weights", "weights_bytes", memory.weights},
          {"gradients", "gradients_bytes", memory.gradients},
          {"moments", "moments_bytes", memory.moments},
          {"kept activations", "activations_bytes", memory.activations},
          {"working memory", "working_bytes", memory.working},
          {"CUDA and libraries", "overhead_bytes", memory.overhead}};
}

template <typename Value>
nlohmann::json SettingDocument(const Value& value) {
  if constexpr (NamedSetting<Value>) {
    for (const auto& [name, named] : SettingNames<Value>::kNames) {
      if (named == value) return std::string(name);
    }
    return nullptr;
  } else {
    return value;
  }
}

nlohmann::json LayoutDocument(const LayoutConfig& layout) {
  nlohmann::json document = nlohmann::json::object();
  VisitSettings(layout, [&](const char* name, const SettingRule&, const auto& value) {
    document[name] = SettingDocument(value);
  });
  return document;
}

// "ranks 0-63".
std::string RanksText(const planner::StagePlace& place) {
  if (place.first_rank == place.last_rank) return absl::StrCat("rank ", place.first_rank);
  return absl::StrCat("ranks ", place.first_rank, "-", place.last_rank);
}

// Nodes are numbered from 1 for people.
std::string NodesText(const planner::StagePlace& place) {
  if (place.first_node == place.last_node) return absl::StrCat("node ", place.first_node + 1);
  return absl::StrCat("nodes ", place.first_node + 1, "-", place.last_node + 1);
}

std::string Line(const std::string& label, const std::string& value) {
  return absl::StrFormat("  %-24s%s\n", label, value);
}

void AddHeading(const LayoutPlan& plan, std::string& text) {
  const planner::Cluster& cluster = plan.cluster;
  const std::string inside(cluster.device->node_link.name), between(cluster.network.name);
  absl::StrAppend(&text, "Layout for ", OneLine(plan.config.name), " on ",
                  planner::ClusterText(cluster), " (", inside,
                  cluster.nodes > 1 ? "; " + between : "",
                  ")\n  layout: ", LayoutText(plan.config.layout), "\n");
}

void AddStages(const LayoutPlan& plan, std::string& text) {
  const std::vector<planner::StagePlace> places =
      planner::PlacesOfStages(plan.config, plan.cluster);
  const LayoutConfig& layout = plan.config.layout;
  absl::StrAppend(&text, "\nRanks\n");
  absl::StrAppend(&text, Line("order", absl::StrCat("tp ", layout.tp, ", cp ", layout.cp, ", dp ",
                                                    layout.dp, ", pp ", layout.pp,
                                                    ": tp neighbours are next to each other")));
  for (size_t stage = 0; stage < std::min(places.size(), kMostStages); ++stage) {
    const planner::StagePlace& place = places[stage];
    absl::StrAppend(&text, Line(absl::StrCat("stage ", stage),
                                absl::StrCat(RanksText(place), ", ", NodesText(place), ", ",
                                             place.layers, " layers")));
  }
  if (places.size() > kMostStages) {
    absl::StrAppend(&text, "  and ", places.size() - kMostStages, " more (-o json has all)\n");
  }
}

void AddMemory(const LayoutPlan& plan, std::string& text) {
  const planner::PlannedLayout& best = *plan.search.best;
  const planner::StagePlace place =
      planner::PlacesOfStages(plan.config, plan.cluster)[best.memory_stage];
  const double device = static_cast<double>(plan.cluster.device->rating->memory_bytes);
  absl::StrAppend(&text, "\nMemory of a GPU of stage ", best.memory_stage, " (", RanksText(place),
                  "), which need most\n");
  for (const Part& part : PartsOf(best.memory)) {
    absl::StrAppend(&text, Line(part.label, GigabytesText(part.value)));
  }
  absl::StrAppend(&text, Line("sum", absl::StrCat(GigabytesText(best.memory.Total()), " of ",
                                                  GigabytesText(device))));
}

void AddStep(const LayoutPlan& plan, std::string& text) {
  const planner::StepTime& step = plan.search.best->step;
  absl::StrAppend(&text, "\nTime of a step, on stage ", step.stage, "\n");
  for (const Part& part : PartsOf(step)) {
    if (part.value <= 0) continue;
    absl::StrAppend(&text, Line(part.label, absl::StrFormat("%8.3f s  %5.1f %%", part.value,
                                                            100 * part.value / step.Total())));
  }
  absl::StrAppend(&text, Line("sum", absl::StrFormat("%8.3f s", step.Total())));
}

std::vector<planner::CloudPrice> PricesOf(const planner::Cluster& cluster) {
  std::vector<planner::CloudPrice> prices;
  for (const planner::CloudPrice& price : planner::KnownPrices()) {
    if (price.device == cluster.device->rating->name) prices.push_back(price);
  }
  return prices;
}

// From the cheapest price to the dearest; `cost` has each, and what failures add.
void AddCost(const LayoutPlan& plan, double device_hours, std::string& text) {
  const std::vector<planner::CloudPrice> prices = PricesOf(plan.cluster);
  if (prices.empty()) {
    absl::StrAppend(&text, Line("cost", "no price of this GPU is known; `trainyard cost --price`"));
    return;
  }
  const auto& low = *std::min_element(prices.begin(), prices.end(),
                                      [](const auto& a, const auto& b) { return a.low < b.low; });
  const auto& high = *std::max_element(
      prices.begin(), prices.end(), [](const auto& a, const auto& b) { return a.high < b.high; });
  const auto part = [&](const planner::CloudPrice& price, double rate) {
    return absl::StrFormat("$%s (%s, $%.2f a GPU-hour)", CompactNumber(rate * device_hours),
                           std::string(price.cloud), rate);
  };
  absl::StrAppend(&text, Line("cost", absl::StrCat(part(low, low.low), " to ",
                                                   part(high, high.high), "; without failures")));
}

void AddRun(const LayoutPlan& plan, std::string& text) {
  const planner::RunEstimate run =
      planner::EstimateOf(plan.config, plan.cluster, plan.search.best->step.Total());
  const double of_device = run.tokens_per_second / static_cast<double>(plan.cluster.devices());
  absl::StrAppend(&text, "\nRun\n");
  absl::StrAppend(&text, Line("tokens/s", absl::StrCat(CompactNumber(run.tokens_per_second), ", ",
                                                       CompactNumber(of_device), " a GPU")));
  absl::StrAppend(&text, Line("MFU", absl::StrFormat("%.1f %%", 100 * run.mfu)));
  absl::StrAppend(
      &text,
      Line("days", absl::StrFormat("%s for %s tokens; %s GPU-hours", NumberText(run.days, 3),
                                   CompactNumber(run.tokens), CompactNumber(run.device_hours))));
  AddCost(plan, run.device_hours, text);
}

void AddOthers(const LayoutPlan& plan, std::string& text) {
  const std::vector<planner::PlannedLayout>& pareto = plan.search.pareto;
  if (pareto.size() > 1) absl::StrAppend(&text, "\nSlower, with less memory\n");
  for (size_t i = 1; i < std::min(pareto.size(), kMostLayouts + 1); ++i) {
    absl::StrAppend(&text, absl::StrFormat("  %8.3f s  %9s  %s\n", pareto[i].step.Total(),
                                           GigabytesText(pareto[i].memory.Total()),
                                           LayoutText(pareto[i].layout)));
  }
  absl::StrAppend(&text, "\nNot chosen, of ", plan.search.tried, " layouts\n");
  std::vector<std::pair<std::string, int64_t>> lost(plan.search.lost.begin(),
                                                    plan.search.lost.end());
  std::stable_sort(lost.begin(), lost.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : lost) {
    absl::StrAppend(&text, absl::StrFormat("  %9d  %s\n", count, reason));
  }
}

nlohmann::json StepDocument(const planner::StepTime& step) {
  nlohmann::json document = {{"stage", step.stage}, {telemetry::kStepSeconds, step.Total()}};
  for (const Part& part : PartsOf(step)) document[part.key] = part.value;
  return document;
}

nlohmann::json MemoryDocument(const planner::PlannedLayout& planned) {
  nlohmann::json document = {{"stage", planned.memory_stage},
                             {"total_bytes", std::llround(planned.memory.Total())}};
  for (const Part& part : PartsOf(planned.memory)) document[part.key] = std::llround(part.value);
  return document;
}

nlohmann::json PlannedDocument(const planner::PlannedLayout& planned) {
  return {{"layout", LayoutDocument(planned.layout)},
          {"step", StepDocument(planned.step)},
          {"memory", MemoryDocument(planned)}};
}

nlohmann::json StagesDocument(const LayoutPlan& plan) {
  nlohmann::json stages = nlohmann::json::array();
  for (const planner::StagePlace& place : planner::PlacesOfStages(plan.config, plan.cluster)) {
    stages.push_back({{"first_rank", place.first_rank},
                      {"last_rank", place.last_rank},
                      {"first_node", place.first_node},
                      {"last_node", place.last_node},
                      {"layers", place.layers}});
  }
  return stages;
}

nlohmann::json ClusterDocument(const planner::Cluster& cluster) {
  return {{"device", std::string(cluster.device->rating->name)},
          {"device_bytes", cluster.device->rating->memory_bytes},
          {"nodes", cluster.nodes},
          {"per_node", cluster.per_node},
          {"devices", cluster.devices()},
          {"network", std::string(cluster.network.name)}};
}

nlohmann::json CostsDocument(const planner::Cluster& cluster, double device_hours) {
  nlohmann::json costs = nlohmann::json::array();
  for (const planner::CloudPrice& price : PricesOf(cluster)) {
    costs.push_back({{"cloud", std::string(price.cloud)},
                     {"dollars_per_gpu_hour", {price.low, price.high}},
                     {"dollars", {price.low * device_hours, price.high * device_hours}},
                     {"date", std::string(price.date)}});
  }
  return costs;
}

// Fills the keys that are null without a layout.
void AddBest(const LayoutPlan& plan, nlohmann::json& document) {
  const planner::PlannedLayout& best = *plan.search.best;
  const planner::RunEstimate run =
      planner::EstimateOf(plan.config, plan.cluster, best.step.Total());
  document["layout"] = LayoutDocument(best.layout);
  document["step"] = StepDocument(best.step);
  document["memory"] = MemoryDocument(best);
  document["stages"] = StagesDocument(plan);
  document[telemetry::kTokensPerSecond] = run.tokens_per_second;
  document[telemetry::kMfu] = run.mfu;
  document["tokens"] = std::llround(run.tokens);
  document["days"] = run.days;
  document["device_hours"] = run.device_hours;
  document["costs"] = CostsDocument(plan.cluster, run.device_hours);
}

}  // namespace

std::string LayoutPlanText(const LayoutPlan& plan) {
  std::string text;
  AddHeading(plan, text);
  AddStages(plan, text);
  AddMemory(plan, text);
  AddStep(plan, text);
  AddRun(plan, text);
  AddOthers(plan, text);
  if (!plan.warnings.empty()) absl::StrAppend(&text, "\nsubmit would refuse this job\n");
  for (const std::string& warning : plan.warnings) {
    absl::StrAppend(&text, "  ", OneLine(warning), "\n");
  }
  return text;
}

nlohmann::json LayoutPlanDocument(const LayoutPlan& plan) {
  nlohmann::json document = {{"name", plan.config.name},
                             {"cluster", ClusterDocument(plan.cluster)},
                             {"layouts_tried", plan.search.tried},
                             {"warnings", plan.warnings},
                             {"pareto", nlohmann::json::array()},
                             {"not_chosen", nlohmann::json::array()},
                             {"problem", nullptr},
                             {"fewest_nodes", nullptr}};
  for (const char* key : {"layout", "step", "memory", "stages", telemetry::kTokensPerSecond,
                          telemetry::kMfu, "tokens", "days", "device_hours", "costs"}) {
    document[key] = nullptr;
  }
  for (const planner::PlannedLayout& planned : plan.search.pareto) {
    document["pareto"].push_back(PlannedDocument(planned));
  }
  for (const auto& [reason, count] : plan.search.lost) {
    document["not_chosen"].push_back({{"reason", reason}, {"layouts", count}});
  }
  if (!plan.problem.empty()) document["problem"] = plan.problem;
  if (plan.fewest_nodes.has_value()) document["fewest_nodes"] = *plan.fewest_nodes;
  if (plan.search.best.has_value()) AddBest(plan, document);
  return document;
}

}  // namespace trainyard::cli
