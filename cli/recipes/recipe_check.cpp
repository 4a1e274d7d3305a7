#include "cli/recipes/recipe_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/recipes/expected_line.h"
#include "controller/planner/answer/described_file.h"
#include "controller/planner/described_config.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/pass_seconds.h"
#include "controller/planner/run_estimate.h"
#include "controller/planner/run_findings.h"
#include "controller/planner/step_time.h"
#include "proto/contract/batch_plan.h"
#include "proto/contract/memory_advice.h"
#include "proto/contract/model_size.h"
#include "proto/contract/run_rules.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/run_config_of.h"

namespace trainyard::cli {
namespace {

void AddFindings(std::vector<planner::Finding> findings, RecipeReport& report) {
  report.findings.insert(report.findings.end(), std::make_move_iterator(findings.begin()),
                         std::make_move_iterator(findings.end()));
}

// A cluster with as many devices as the job requests.
planner::Cluster ClusterOf(const planner::DeviceSpec& device, const RunConfig& config) {
  return {&device, config.resources.nodes, config.resources.slots_per_node,
          *planner::FindNetwork(device.network)};
}

// A run of a job file, or of a description with its additional parts.
struct CheckedRun {
  RunConfig config;
  planner::DescribedParts parts;
  bool is_job = false;  // Also check settings that can be changed.
};

// Job file settings that need less memory.
std::string Advice(const CheckedRun& run, const planner::DeviceSpec& device) {
  if (!run.is_job) return "";
  const auto bytes = static_cast<double>(device.rating->memory_bytes);
  return absl::StrCat(", or: ", planner::OutOfMemory(run.config, bytes).right);
}

void CheckMemory(const CheckedRun& run, const planner::DeviceSpec& device, RecipeReport& report) {
  int64_t stage = 0;
  const MemoryPrediction memory = planner::PeakMemory(run.config, stage, run.parts);
  if (planner::FitsInto(memory, device)) return;
  report.findings.push_back(
      {absl::StrCat("does not fit on ", std::string(device.rating->name)),
       absl::StrCat(
           "a GPU of stage ", stage, " needs ", MemoryText(memory), ", and ",
           GigabytesText(static_cast<double>(device.rating->memory_bytes) / (1 + kMemoryMargin)),
           " can be planned with"),
       absl::StrCat("a layout of `trainyard plan ", report.name, " --device ",
                    std::string(device.rating->name), "`", Advice(run, device))});
}

// A larger micro-batch is recommended from this predicted gain, because predictions are inexact.
constexpr double kWorthwhileGain = 0.2;

// Reports memory left unused by small micro-batches.
void CheckMicroBatch(const RunConfig& config, const planner::Cluster& cluster,
                     RecipeReport& report) {
  RunConfig larger = config;
  larger.layout.micro_batch *= 2;
  const int64_t share = config.train.global_batch / std::max<int64_t>(config.layout.dp, 1);
  if (HasRampup(config.train) || share % larger.layout.micro_batch != 0) return;
  int64_t stage = 0;
  if (!planner::FitsInto(planner::PeakMemory(larger, stage), *cluster.device)) return;
  const double gain =
      planner::PredictStep(config, cluster).Total() / planner::PredictStep(larger, cluster).Total();
  if (gain < 1 + kWorthwhileGain) return;
  report.findings.push_back(
      {absl::StrCat("`layout.micro_batch` ", config.layout.micro_batch),
       absl::StrFormat("twice as much fits on %s too, and is predicted to be %.0f %% faster",
                       std::string(cluster.device->rating->name), 100 * (gain - 1)),
       absl::StrCat("layout.micro_batch ", larger.layout.micro_batch,
                    "; `trainyard tune` measures it")});
}

// Adds the advice for a low MFU, based on the predicted one.
void CheckSpeed(const RunConfig& config, const planner::Cluster& cluster, RecipeReport& report) {
  const planner::StepTime step = planner::PredictStep(config, cluster);
  const planner::SpeedFacts facts = {.mfu = planner::EstimateOf(config, cluster, step.Total()).mfu,
                                     .waits = {.step = step.Total(),
                                               .tensor = step.tensor_wait,
                                               .context = step.context_wait,
                                               .pipeline = step.pipeline_wait,
                                               .data = step.data_wait}};
  AddFindings(planner::FindSlowness(config, facts), report);
}

// Returns the corrected line.
std::string CheckExpected(const CheckedRun& run, const ExpectedLine& line, RecipeReport& report) {
  const RunConfig& config = run.config;
  const planner::DeviceSpec* device = planner::FindDeviceSpec(line.device);
  if (device == nullptr || planner::PeakFlops(config.train.precision, run.parts, *device) == 0) {
    report.findings.push_back(
        {absl::StrCat("`# Expected on ", line.device, "`"),
         device == nullptr ? "unknown device" : "it does not support train.precision",
         "a device that `trainyard plan --device` knows"});
    return line.text;
  }
  CheckMemory(run, *device, report);
  const planner::Cluster cluster = ClusterOf(*device, config);
  if (run.is_job) {
    CheckMicroBatch(config, cluster, report);
    CheckSpeed(config, cluster, report);
  }
  const std::string text = ExpectedText(config, cluster, run.parts);
  if (text != line.text) {
    report.findings.push_back({absl::StrCat("`", line.text, "`"),
                               "the planner predicts something else",
                               absl::StrCat("`trainyard recipe check ", report.name, " --renew`")});
  }
  return text;
}

// Checks the lines in report.renewed and replaces them by the corrected ones.
void CheckLines(const CheckedRun& run, RecipeReport& report) {
  const std::vector<ExpectedLine> lines = FindExpectedLines(report.renewed);
  // Starts at the last one, so that positions remain valid.
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    report.renewed.replace(line->position, line->text.size(), CheckExpected(run, *line, report));
  }
}

void CheckExpectations(const JobFileText& file, const RunConfig& config, RecipeReport& report) {
  const std::vector<ExpectedLine> lines = FindExpectedLines(file.text);
  if (lines.empty() && config.resources.device == DeviceKind::kGpu) {
    report.findings.push_back({"no line `# Expected on DEVICE: -`",
                               "a recipe for GPUs states the planner's prediction",
                               "that line, then `trainyard recipe check --renew`"});
  }
  report.renewed = file.text;
  CheckLines({config, {}, /*is_job=*/true}, report);
}

void CheckDescription(const JobFileText& file, RecipeReport& report) {
  const absl::StatusOr<planner::DescribedFile> described = planner::ReadDescribedFile(file);
  if (!described.ok()) {
    for (const absl::string_view line : absl::StrSplit(described.status().message(), '\n')) {
      report.findings.push_back({std::string(line), "the description cannot be read", "see there"});
    }
    return;
  }
  if (!described->run.name.empty()) report.name = described->run.name;
  report.kind = described->describes;
  if (described->run.has_model) {
    report.parameters = planner::CountParameters(described->run.model);
  }
  report.tokens = planner::TokensOf(described->run.batch);
  report.findings = planner::ReviewRun(described->run);
  report.renewed = file.text;
  if (!report.findings.empty() || !planner::MissingForPlan(described->run).empty()) return;
  CheckLines({planner::ConfigOf(described->run), planner::PartsOf(described->run)}, report);
}

// Reports a guard that rolls back without checkpoints.
void CheckGuard(const v1::JobSpec& spec, RecipeReport& report) {
  const bool rolls_back = spec.guard().policy() == v1::GUARD_POLICY_SKIP ||
                          spec.guard().policy() == v1::GUARD_POLICY_LOWER_LR;
  const v1::CheckpointSpec& checkpoint = spec.checkpoint();
  if (!rolls_back || checkpoint.every_steps() > 0 || checkpoint.has_always_save_checkpoint()) {
    return;
  }
  report.findings.push_back(
      {"`guard.policy` rolls back, and `checkpoint.every_steps` is 0",
       "without a checkpoint before a spike, the run restarts from the beginning",
       "checkpoint.every_steps of a few hundred, or guard.policy stop"});
}

void CheckJob(const JobFileText& file, const JobFileReader& reader, RecipeReport& report) {
  const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile(file.display_name, {}, reader);
  if (!resolved.ok()) {
    for (const absl::string_view line : absl::StrSplit(resolved.status().message(), '\n')) {
      report.findings.push_back({std::string(line), "the job file is refused", "see there"});
    }
    return;
  }
  if (!resolved->spec.name().empty()) report.name = resolved->spec.name();
  if (!RunsOurTrainer(resolved->spec)) {
    report.kind = "a command";
    return;
  }
  const RunConfig config = RunConfigOf(resolved->spec);
  const int64_t count = ParameterCount(config.model);
  report.parameters = planner::ParameterSum{count, count};
  report.tokens = static_cast<double>(BatchPlan(config.train).SamplesThrough(config.train.steps)) *
                  static_cast<double>(config.train.seq_length);
  for (const SettingProblem& problem : FindLaunchProblems(config)) {
    if (problem.key == "data.path") continue;
    report.findings.push_back({absl::StrCat("`", problem.key, "`"), problem.message, "see there"});
  }
  if (!report.findings.empty()) return;
  AddFindings(planner::ReviewJob(config, resolved->origins.contains("layout.sequence_parallel")),
              report);
  AddFindings(planner::FindRiskySettings(config), report);
  CheckGuard(resolved->spec, report);
  CheckExpectations(file, config, report);
}

}  // namespace

RecipeReport CheckRecipe(const JobFileText& file, const JobFileReader& reader) {
  RecipeReport report;
  report.name = std::filesystem::path(file.display_name).stem().string();
  report.kind = "dense";
  if (planner::IsDescribed(file.text)) {
    CheckDescription(file, report);
  } else {
    CheckJob(file, reader, report);
  }
  return report;
}

}  // namespace trainyard::cli
