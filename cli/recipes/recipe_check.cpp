#include "cli/recipes/recipe_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/recipes/claimed_lines.h"
#include "cli/recipes/expected_line.h"
#include "controller/planner/claim_review.h"
#include "controller/planner/device_rates.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/run_estimate.h"
#include "controller/planner/run_findings.h"
#include "controller/planner/run_review.h"
#include "controller/planner/step_time.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/memory/memory_advice.h"
#include "proto/model/model_size.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/planned_features.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"

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

void CheckMemory(const RunConfig& config, const planner::DeviceSpec& device, RecipeReport& report) {
  int64_t stage = 0;
  const MemoryPrediction memory = planner::PeakMemory(config, stage);
  if (planner::FitsInto(memory, device)) return;
  const auto bytes = static_cast<double>(device.rating->memory_bytes);
  report.findings.push_back(
      {absl::StrCat("does not fit on ", std::string(device.rating->name)),
       absl::StrCat("each GPU of stage ", stage, " needs ", MemoryText(memory),
                    ", but the planner may use only ", GigabytesText(bytes - memory.Reserve()),
                    " per GPU"),
       absl::StrCat("use a layout that `trainyard plan ", report.name, " --device ",
                    std::string(device.rating->name),
                    "` prints, or: ", planner::OutOfMemory(config, bytes).right)});
}

// The smallest predicted gain for which a larger micro-batch is recommended. Smaller gains are
// within the error of the prediction.
constexpr double kWorthwhileGain = 0.2;

// Adds advice if a larger micro-batch would use free memory.
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
       absl::StrFormat(
           "twice this micro-batch also fits on %s and is predicted to be %.0f %% faster",
           std::string(cluster.device->rating->name), 100 * (gain - 1)),
       absl::StrCat("set layout.micro_batch to ", larger.layout.micro_batch,
                    "; measure the speed with `trainyard tune`")});
}

// Adds advice if the predicted MFU is low.
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

// Returns the line with corrected numbers. Adds no advice for runs that the trainer does not
// support, because their predicted times are inexact.
std::string CheckExpected(const RunConfig& config, const ExpectedLine& line, RecipeReport& report) {
  const planner::DeviceSpec* device = planner::FindDeviceSpec(line.device);
  if (device == nullptr || planner::PeakFlops(config.train, *device) == 0) {
    report.findings.push_back(
        {absl::StrCat("`# Expected on ", line.device, "`"),
         device == nullptr ? "unknown device" : "this device does not support train.precision",
         "name a device that `trainyard plan --device` lists"});
    return line.text;
  }
  CheckMemory(config, *device, report);
  const planner::Cluster cluster = ClusterOf(*device, config);
  if (!HasFp8(config.train)) {
    CheckMicroBatch(config, cluster, report);
    CheckSpeed(config, cluster, report);
  }
  const std::string text = ExpectedText(config, cluster);
  if (text != line.text) {
    report.findings.push_back(
        {absl::StrCat("`", line.text, "`"), "the planner now predicts other values",
         absl::StrCat("run `trainyard recipe check ", report.name, " --renew`")});
  }
  return text;
}

void CheckExpectations(const JobFileText& file, const RunConfig& config, RecipeReport& report) {
  const std::vector<ExpectedLine> lines = FindExpectedLines(file.text);
  if (lines.empty() && config.resources.device == DeviceKind::kGpu) {
    report.findings.push_back({"no line `# Expected on DEVICE: -`",
                               "a recipe for GPUs must state the planner's prediction",
                               "add that line, then run `trainyard recipe check --renew`"});
  }
  report.renewed = file.text;
  // Replace the last line first. The positions of the other lines then stay valid.
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    report.renewed.replace(line->position, line->text.size(), CheckExpected(config, *line, report));
  }
}

// Reports a run whose loss guard would roll back although the run saves no checkpoints.
void CheckGuard(const v1::JobSpec& spec, RecipeReport& report) {
  const bool rolls_back = spec.guard().policy() == v1::GUARD_POLICY_SKIP ||
                          spec.guard().policy() == v1::GUARD_POLICY_LOWER_LR;
  const v1::CheckpointSpec& checkpoint = spec.checkpoint();
  if (!rolls_back || checkpoint.every_steps() > 0 || checkpoint.has_always_save_checkpoint()) {
    return;
  }
  report.findings.push_back(
      {"`guard.policy` rolls back, and `checkpoint.every_steps` is 0",
       "a run without checkpoints rolls back to its beginning",
       "set checkpoint.every_steps to a few hundred, or guard.policy to stop"});
}

// Adds the errors for which `submit` would reject the file.
void AddLines(const std::vector<std::string>& lines, RecipeReport& report) {
  for (const std::string& line : lines) {
    report.findings.push_back({line, "submit would refuse the job file", ""});
  }
}

void SetSizes(const RunConfig& config, RecipeReport& report) {
  if (const std::vector<std::string> features = FeaturesOf(config); !features.empty()) {
    report.kind = absl::StrJoin(features, ", ");
  }
  report.parameters = ParameterCount(config.model);
  report.active_parameters = ActiveParameterCount(config.model);
}

// Reports why the run could not start. Ignores data that the user must supply.
void CheckStart(const RunConfig& config, RecipeReport& report) {
  for (const SettingProblem& problem : FindLaunchProblems(config)) {
    if (problem.key == "data.path") continue;
    report.findings.push_back({absl::StrCat("`", problem.key, "`"), problem.message, ""});
  }
}

void CheckSettings(const JobFileText& file, const ResolvedSpec& resolved, const RunConfig& config,
                   RecipeReport& report) {
  report.tokens = static_cast<double>(BatchPlan(config.train).SamplesThrough(config.train.steps)) *
                  static_cast<double>(config.train.seq_length);
  CheckStart(config, report);
  if (!report.findings.empty()) return;
  const ClaimedLines claimed = FindClaimedLines(file);
  for (const std::string& line : claimed.errors) {
    report.findings.push_back({line, "the claim cannot be read", ""});
  }
  AddFindings(planner::ReviewClaims(config, claimed.claims), report);
  AddFindings(planner::ReviewJob(config, resolved.origins.contains("layout.sequence_parallel")),
              report);
  // Further checks are useful only if the settings match the recipe's claims.
  if (claimed.count > 0 && !report.findings.empty()) return;
  AddFindings(planner::FindRiskySettings(config), report);
  CheckGuard(resolved.spec, report);
  CheckExpectations(file, config, report);
}

void CheckJob(const JobFileText& file, const JobFileReader& reader, RecipeReport& report) {
  const absl::StatusOr<JobFileReading> reading = ReadJobFile(file.display_name, {}, reader);
  if (!reading.ok()) {
    return AddLines(absl::StrSplit(reading.status().message(), '\n'), report);
  }
  const ResolvedSpec& resolved = reading->resolved;
  if (!resolved.spec.name().empty()) report.name = resolved.spec.name();
  AddLines(reading->unreadable, report);
  AddLines(reading->broken_rules, report);
  if (!RunsOurTrainer(resolved.spec)) {
    report.kind = ProgramOf(resolved.spec) == JobProgram::kData ? "a data pipeline" : "a command";
    return;
  }
  const RunConfig config = RunConfigOf(resolved.spec);
  if (!FindMissing(config).empty() || !FindOutOfRange(config).empty()) return;
  if (!HasCountableSize(config.model)) return;
  SetSizes(config, report);
  if (report.findings.empty()) return CheckSettings(file, resolved, config, report);
  // Compare the claims even if the run has other errors, such as an invalid layout.
  if (!reading->unreadable.empty()) return;
  AddFindings(planner::ReviewClaims(config, FindClaimedLines(file).claims), report);
}

}  // namespace

RecipeReport CheckRecipe(const JobFileText& file, const JobFileReader& reader) {
  RecipeReport report;
  report.name = std::filesystem::path(file.display_name).stem().string();
  report.kind = "dense";
  CheckJob(file, reader, report);
  return report;
}

}  // namespace trainyard::cli
