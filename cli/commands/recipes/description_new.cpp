#include "cli/commands/recipes/description_new.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/commands/planning/plan_layout.h"
#include "cli/recipes/expected_line.h"
#include "controller/planner/answer/described_file.h"
#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/described_config.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

// Keys that the new description sets itself.
const std::set<std::string>& ChangedKeys() {
  static const std::set<std::string> keys = {"name",
                                             "gpus",
                                             "global-batch-size",
                                             "micro-batch-size",
                                             "train-iters",
                                             "tensor-model-parallel-size",
                                             "sequence-parallel",
                                             "context-parallel-size",
                                             "pipeline-model-parallel-size",
                                             "num-virtual-stages-per-pipeline-rank",
                                             "uneven-pipeline",
                                             "expert-model-parallel-size",
                                             "recompute-granularity",
                                             "data-parallel-sharding-strategy",
                                             "claimed-data-parallel-size"};
  return keys;
}

std::string KeptSettings(const std::string& text) {
  std::string kept;
  for (const auto& entry : YAML::Load(text)) {
    const std::string key = entry.first.Scalar();
    if (ChangedKeys().contains(key)) continue;
    YAML::Emitter value;
    value << YAML::Flow << entry.second;
    absl::StrAppend(&kept, key, ": ", value.c_str(), "\n");
  }
  return kept;
}

std::string SizeLine(const char* key, int64_t size) {
  return size > 1 ? absl::StrCat(key, ": ", size, "\n") : "";
}

std::string LayoutLines(const planner::LayoutPlan& plan) {
  const LayoutConfig& layout = plan.config.layout;
  const bool is_uneven = plan.config.model.num_layers % (layout.pp * layout.vpp) != 0;
  return absl::StrCat(
      SizeLine("tensor-model-parallel-size", layout.tp),
      layout.tp > 1 ? "sequence-parallel: true\n" : "",
      SizeLine("context-parallel-size", layout.cp),
      SizeLine("pipeline-model-parallel-size", layout.pp),
      SizeLine("num-virtual-stages-per-pipeline-rank", layout.vpp),
      is_uneven ? "uneven-pipeline: true\n" : "", SizeLine("expert-model-parallel-size", layout.ep),
      layout.zero == 1
          ? ""
          : absl::StrCat("data-parallel-sharding-strategy: ", planner::ShardingName(layout.zero),
                         "\n"),
      layout.recompute == Recompute::kNone
          ? ""
          : absl::StrCat("recompute-granularity: ",
                         layout.recompute == Recompute::kFull ? "full\n" : "selective\n"));
}

std::string TextOf(const planner::LayoutPlan& plan, const planner::DescribedRun& base,
                   const std::string& kept) {
  const RunConfig& config = plan.config;
  return absl::StrCat(
      "# ", base.name, " on ", planner::ClusterText(plan.cluster), ", by `trainyard recipe new`.\n",
      ExpectedText(config, plan.cluster, plan.parts), "\n# trainyard-trainer cannot train it yet",
      planner::LackingText(plan.parts), ".\n# - layout: the fastest of ", plan.search.tried,
      " by the planner.\n# - batch: ", base.name, " has ", base.batch.global_batch, " on ",
      base.layout.gpus, " GPUs; these are ", plan.cluster.devices(), ".\n", kept,
      "name: ", config.name, "\ngpus: ", plan.cluster.devices(),
      "\nglobal-batch-size: ", config.train.global_batch,
      "\nmicro-batch-size: ", config.layout.micro_batch, "\n",
      base.batch.steps > 0 ? absl::StrCat("train-iters: ", config.train.steps, "\n") : "",
      LayoutLines(plan));
}

}  // namespace

int64_t ScaledBatch(const RunConfig& base, int64_t devices) {
  const auto before = static_cast<double>(base.resources.nodes * base.resources.slots_per_node);
  const double target =
      static_cast<double>(base.train.global_batch) * static_cast<double>(devices) / before;
  const int64_t unit = target >= static_cast<double>(devices) ? devices : 1;
  return std::max<int64_t>(std::llround(target / static_cast<double>(unit)), 1) * unit;
}

absl::StatusOr<std::string> BaseFor(const std::string& like, const ClusterOptions& cluster,
                                    Context& context) {
  const std::optional<JobFileText> description = FindDescription(like, context);
  const planner::DeviceSpec* device = planner::FindDeviceSpec(cluster.request.device);
  if (!description.has_value() || device == nullptr || device->fp8_flops > 0) return like;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::DescribedFile described,
                             planner::ReadDescribedFile(*description));
  if (!described.run.is_fp8 || described.without_fp8.empty()) return like;
  PrintNote(context.console,
            absl::StrCat("note: the ", std::string(device->rating->name), " has no FP8: this is ",
                         described.without_fp8, ", the same run in bf16"));
  return described.without_fp8;
}

Outcome RunDescriptionNew(const JobFileText& file, const NewRun& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const planner::DescribedFile described,
                             planner::ReadDescribedFile(file));
  planner::DescribedRun run = described.run;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request,
                             ClusterRequestOf(options.cluster));
  const RunConfig base = planner::ConfigOf(run);
  TRAINYARD_ASSIGN_OR_RETURN(const planner::Cluster cluster,
                             planner::ClusterFor(request, base.resources.nodes));
  if (run.layout.gpus == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", file.display_name, "` names no `gpus`, by which a batch is scaled"));
  }
  PrintDeviceNote(cluster, context.console);
  const int64_t batch =
      options.global_batch > 0 ? options.global_batch : ScaledBatch(base, cluster.devices());
  // The run keeps its number of tokens.
  run.batch.steps = std::llround(static_cast<double>(run.batch.steps * run.batch.global_batch) /
                                 static_cast<double>(batch));
  run.batch.global_batch = batch;
  run.name = options.name.empty() ? NameOn(run.name, cluster) : options.name;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::LayoutPlan plan, planner::PlanDescribed(run, request));
  if (plan.problem.has_value()) {
    PrintError(context.console, planner::ProblemText(*plan.problem));
    return ExitCode::kFailed;
  }
  *context.console.out << TextOf(plan, described.run, KeptSettings(file.text));
  return ExitCode::kOk;
}

std::string NameOn(const std::string& name, const planner::Cluster& cluster) {
  std::string device(cluster.device->rating->name);
  for (char& letter : device) {
    letter = letter == ' ' ? '-' : static_cast<char>(std::tolower(letter));
  }
  return absl::StrCat(name, "-", cluster.nodes, "x", cluster.per_node, "-", device);
}

}  // namespace trainyard::cli
