#include "cli/output/plans/plan_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/answer/layout_message.h"
#include "controller/planner/run_cost.h"
#include "controller/planner/run_estimate.h"
#include "proto/layout/layout_text.h"
#include "proto/layout/rank_order.h"
#include "proto/memory/memory_advice.h"
#include "proto/model/model_size.h"
#include "proto/rules/context_exchange.h"
#include "proto/rules/expert_dispatch.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/planned_features.h"

namespace trainyard::cli {
namespace {

// Maximum number of stages and layouts shown on a terminal. Documents list all stages and layouts.
constexpr size_t kMostStages = 12;
constexpr size_t kMostLayouts = 8;

std::vector<PlanPart> PartsOfMemory(const MemoryPrediction& memory) {
  return {{"weights", memory.weights},
          {"gradients", memory.gradients},
          {"moments", memory.moments},
          {"kept activations", memory.activations},
          {"expert inputs", memory.dispatch},
          {"working memory", memory.working},
          {"CUDA and libraries", memory.overhead}};
}

// "ranks 0-63".
std::string RanksText(const planner::StagePlace& place) {
  if (place.first_rank == place.last_rank) return absl::StrCat("rank ", place.first_rank);
  return absl::StrCat("ranks ", place.first_rank, "-", place.last_rank);
}

// The text numbers nodes from 1.
std::string NodesText(const planner::StagePlace& place) {
  if (place.first_node == place.last_node) return absl::StrCat("node ", place.first_node + 1);
  return absl::StrCat("nodes ", place.first_node + 1, "-", place.last_node + 1);
}

std::string Line(const std::string& label, const std::string& value) {
  return absl::StrFormat("  %-24s%s\n", label, value);
}

void AddHeading(const planner::LayoutPlan& plan, std::string& text) {
  const planner::Cluster& cluster = plan.cluster;
  const std::string inside(cluster.device->node_link.name), between(cluster.network.name);
  absl::StrAppend(&text, plan.is_written ? "Job file's layout for " : "Layout for ",
                  OneLine(plan.config.name), " on ", planner::ClusterText(cluster), " (", inside,
                  cluster.nodes > 1 ? "; " + between : "",
                  ")\n  layout: ", LayoutText(plan.config.layout), "\n");
  const ModelConfig& model = plan.config.model;
  if (!HasExperts(model)) return;
  absl::StrAppend(&text, "  parameters: ", ParameterCount(model), ", ", ActiveParameterCount(model),
                  " active per token\n");
}

// "all-to-all: each token goes to the ranks of its experts".
std::string DispatchText(ExpertDispatch dispatch) {
  switch (dispatch) {
    case ExpertDispatch::kLocal:
      return "none: each GPU has all experts";
    case ExpertDispatch::kAllToAll:
      return "all-to-all: a token is sent to the GPUs of its experts";
    case ExpertDispatch::kAllGather:
      return "all-gather: a token is sent to all GPUs that share the experts";
  }
  return "";
}

void AddExperts(const planner::LayoutPlan& plan, std::string& text) {
  const ModelConfig& model = plan.config.model;
  if (!HasExperts(model)) return;
  const LayoutConfig& layout = plan.config.layout;
  const ExpertSizes sizes = ExpertSizesOf(layout);
  const std::string part = sizes.etp > 1 ? absl::StrCat(", each divided into ", sizes.etp) : "";
  absl::StrAppend(
      &text,
      Line("experts", absl::StrCat(model.num_experts / sizes.ep, " of ", model.num_experts,
                                   " per GPU", part, "; ep ", sizes.ep, " divides the ranks of ",
                                   HasWholeExperts(layout) ? "tp, cp and dp" : "dp")));
  absl::StrAppend(&text, Line("copies of an expert", absl::StrCat(sizes.edp)));
  absl::StrAppend(&text, Line("exchange of tokens", DispatchText(DispatchOf(model, layout))));
}

void AddStages(const planner::LayoutPlan& plan, std::string& text) {
  const std::vector<planner::StagePlace> places =
      planner::PlacesOfStages(plan.config, plan.cluster);
  const LayoutConfig& layout = plan.config.layout;
  absl::StrAppend(&text, "\nRanks\n");
  absl::StrAppend(
      &text, Line("order", absl::StrCat("tp ", layout.tp, ", cp ", layout.cp, ", dp ", layout.dp,
                                        ", pp ", layout.pp, ": tp varies fastest, pp slowest")));
  const std::string_view exchange = ContextExchangeText(plan.config);
  if (!exchange.empty())
    absl::StrAppend(&text, Line("exchange of attention", std::string(exchange)));
  AddExperts(plan, text);
  for (size_t stage = 0; stage < std::min(places.size(), kMostStages); ++stage) {
    const planner::StagePlace& place = places[stage];
    absl::StrAppend(&text, Line(absl::StrCat("stage ", stage),
                                absl::StrCat(RanksText(place), ", ", NodesText(place), ", ",
                                             place.layers, " layers")));
  }
  if (places.size() > kMostStages) {
    absl::StrAppend(&text, "  and ", places.size() - kMostStages, " more (-o json lists all)\n");
  }
}

void AddMemory(const planner::LayoutPlan& plan, std::string& text) {
  const planner::PlannedLayout& best = plan.Planned();
  const planner::StagePlace place =
      planner::PlacesOfStages(plan.config, plan.cluster)[best.memory_stage];
  const double device = static_cast<double>(plan.cluster.device->rating->memory_bytes);
  absl::StrAppend(&text, "\nMemory per GPU of stage ", best.memory_stage, " (", RanksText(place),
                  "), which needs the most memory\n");
  for (const PlanPart& part : PartsOfMemory(best.memory)) {
    if (part.value <= 0) continue;
    absl::StrAppend(&text, Line(part.label, GigabytesText(part.value)));
  }
  absl::StrAppend(&text, Line("total", absl::StrCat(GigabytesText(best.memory.Total()), " of ",
                                                    GigabytesText(device))));
}

void AddStep(const planner::LayoutPlan& plan, std::string& text) {
  const planner::StepTime& step = plan.Planned().step;
  absl::StrAppend(&text, "\nStep time of stage ", step.stage, "\n");
  for (const PlanPart& part : PartsOfStep(step)) {
    if (part.value <= 0) continue;
    absl::StrAppend(&text, Line(part.label, absl::StrFormat("%8.3f s  %5.1f %%", part.value,
                                                            100 * part.value / step.Total())));
  }
  absl::StrAppend(&text, Line("total", absl::StrFormat("%8.3f s", step.Total())));
}

// Adds the lowest and the highest cost. The command `cost` shows the cost at each price and the
// cost of failures.
void AddCost(const planner::LayoutPlan& plan, double device_hours, std::string& text) {
  const std::vector<planner::CloudPrice> prices =
      planner::PricesOf(plan.cluster.device->rating->name);
  if (prices.empty()) {
    absl::StrAppend(&text, Line("cost", absl::StrCat("no price is known for the ",
                                                     std::string(plan.cluster.device->rating->name),
                                                     "; see `trainyard cost --price`")));
    return;
  }
  const auto& low = *std::min_element(prices.begin(), prices.end(),
                                      [](const auto& a, const auto& b) { return a.low < b.low; });
  const auto& high = *std::max_element(
      prices.begin(), prices.end(), [](const auto& a, const auto& b) { return a.high < b.high; });
  const auto part = [&](const planner::CloudPrice& price, double rate) {
    return absl::StrFormat("$%s (%s, %s, $%.2f per GPU-hour)", CompactNumber(rate * device_hours),
                           std::string(price.cloud), std::string(price.date), rate);
  };
  absl::StrAppend(&text, Line("cost", absl::StrCat(part(low, low.low), " to ",
                                                   part(high, high.high), "; excluding failures")));
}

void AddRun(const planner::LayoutPlan& plan, std::string& text) {
  const planner::RunEstimate run =
      planner::EstimateOf(plan.config, plan.cluster, plan.Planned().step.Total());
  const double of_device = run.tokens_per_second / static_cast<double>(plan.cluster.devices());
  absl::StrAppend(&text, "\nRun\n");
  absl::StrAppend(&text, Line("tokens/s", absl::StrCat(CompactNumber(run.tokens_per_second), ", ",
                                                       CompactNumber(of_device), " per GPU")));
  absl::StrAppend(
      &text, Line("MFU", absl::StrFormat("%.1f %%%s", 100 * run.mfu,
                                         HasFp8(plan.config.train) ? " of the FP8 peak" : "")));
  absl::StrAppend(
      &text,
      Line("days", absl::StrFormat("%s for %s tokens; %s GPU-hours", NumberText(run.days, 3),
                                   CompactNumber(run.tokens), CompactNumber(run.device_hours))));
  AddCost(plan, run.device_hours, text);
}

// Adds the layout written in the job file, for comparison with the best layout.
void AddWritten(const planner::LayoutPlan& plan, std::string& text) {
  const planner::WrittenLayout& written = *plan.written;
  absl::StrAppend(&text, "\nLayout of the job file\n");
  if (written.is_predicted) {
    absl::StrAppend(&text, absl::StrFormat("  %8.3f s  %9s  %s\n", written.planned.step.Total(),
                                           GigabytesText(written.planned.memory.Total()),
                                           LayoutText(written.planned.layout)));
  } else {
    absl::StrAppend(&text, "  ", LayoutText(written.planned.layout), "\n");
  }
  if (!written.problem.empty()) {
    absl::StrAppend(&text, "  cannot run: ", written.problem, "\n");
  } else if (plan.search.best.has_value()) {
    const double factor = written.planned.step.Total() / plan.search.best->step.Total();
    absl::StrAppend(&text,
                    absl::StrFormat("  %.2f times the step time of the best layout\n", factor));
  }
}

void AddOthers(const planner::LayoutPlan& plan, std::string& text) {
  const std::vector<planner::PlannedLayout>& pareto = plan.search.pareto;
  // Index 0 is the best layout. The best layout is already shown at the top of the plan, unless the
  // job file's layout is shown there.
  const size_t first = plan.is_written ? 0 : 1;
  if (pareto.size() > first) {
    absl::StrAppend(&text, plan.is_written
                               ? "\nBest layout, then slower layouts that need less memory\n"
                               : "\nSlower layouts that need less memory\n");
  }
  for (size_t i = first; i < std::min(pareto.size(), kMostLayouts + first); ++i) {
    absl::StrAppend(&text, absl::StrFormat("  %8.3f s  %9s  %s\n", pareto[i].step.Total(),
                                           GigabytesText(pareto[i].memory.Total()),
                                           LayoutText(pareto[i].layout)));
  }
  absl::StrAppend(&text, "\nRejected layouts (", plan.search.tried, " layouts tried)\n");
  for (const auto& [reason, count] : planner::ReasonsOf(plan.search)) {
    absl::StrAppend(&text, absl::StrFormat("  %9d  %s\n", count, reason));
  }
}

}  // namespace

std::vector<PlanPart> PartsOfStep(const planner::StepTime& step) {
  return {{"compute", step.compute},
          {"optimizer", step.optimizer},
          {"wait: tensor parallel", step.tensor_wait},
          {"wait: context parallel", step.context_wait},
          {"wait: experts", step.expert_wait},
          {"wait: pipeline", step.pipeline_wait},
          {"wait: data parallel", step.data_wait},
          {"wait: slowest node", step.world_wait},
          {"wait: data input", step.input_wait}};
}

std::string LayoutPlanText(const planner::LayoutPlan& plan) {
  std::string text;
  AddHeading(plan, text);
  AddStages(plan, text);
  AddMemory(plan, text);
  AddStep(plan, text);
  AddRun(plan, text);
  if (plan.written.has_value()) AddWritten(plan, text);
  AddOthers(plan, text);
  if (!plan.warnings.empty()) absl::StrAppend(&text, "\nsubmit would refuse this job\n");
  for (const std::string& warning : plan.warnings) {
    absl::StrAppend(&text, "  ", OneLine(warning), "\n");
  }
  return text;
}

nlohmann::json LayoutPlanDocument(const planner::LayoutPlan& plan) {
  return StableJson(planner::LayoutMessage(plan, /*price=*/0));
}

}  // namespace trainyard::cli
