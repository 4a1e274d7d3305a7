#include "cli/commands/trials/smoke.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands/trials/trial_data.h"
#include "cli/commands/trials/trial_job.h"
#include "cli/commands/trials/trial_options.h"
#include "cli/grammar/job_file_options.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/readable.h"
#include "cli/process/child_process.h"
#include "cli/recipes/calibration_file.h"
#include "cli/recipes/expected_line.h"
#include "controller/planner/device_rates.h"
#include "controller/planner/smoke_checks.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::minutes kLongestVerify{10};
constexpr int kVerifyLines = 3;

const v1::Checkpoint* NewestCheckpoint(const v1::Job& job) {
  const v1::Checkpoint* newest = nullptr;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (newest == nullptr || checkpoint.step() >= newest->step()) newest = &checkpoint;
  }
  return newest;
}

// A temporary file, which the destructor removes.
class ScratchFile {
 public:
  ScratchFile() {
    std::string name =
        (std::filesystem::temp_directory_path() / "trainyard-verify-XXXXXX").string();
    if (const int fd = mkstemp(name.data()); fd >= 0) {
      close(fd);
      path_ = name;
    }
  }
  ~ScratchFile() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Verifies every byte of the checkpoint with trainyard-ckpt, unless this machine cannot see the
// checkpoint.
void VerifyCheckpoint(const v1::Job& job, const Context& context, planner::SmokeFacts& facts) {
  const v1::Checkpoint* checkpoint = NewestCheckpoint(job);
  if (checkpoint == nullptr) return;
  facts.checkpoint = planner::SavedState::kNotSeen;
  facts.checkpoint_text = checkpoint->path();
  std::error_code error;
  const ScratchFile output;
  if (!std::filesystem::is_directory(checkpoint->path(), error) || output.path().empty()) return;
  absl::StatusOr<ChildProcess> verify = ChildProcess::Start(
      "trainyard-ckpt", context.environment.program_directory + "/trainyard-ckpt",
      {"verify", "--", checkpoint->path()}, output.path());
  if (!verify.ok() || !verify->WaitFor(kLongestVerify)) return;
  const bool is_sound = verify->Ended() == "exited with 0";
  facts.checkpoint = is_sound ? planner::SavedState::kReadable : planner::SavedState::kDamaged;
  if (!is_sound) facts.checkpoint_text = OneLine(LastLines(output.path(), kVerifyLines));
}

// Returns the settings of the newest attempt.
RunConfig ConfigOf(const v1::Job& job) {
  v1::JobSpec spec = job.spec();
  const v1::Attempt* attempt = NewestAttempt(job);
  if (attempt != nullptr && attempt->has_layout()) {
    *spec.mutable_layout() = attempt->layout().layout();
    spec.mutable_resources()->set_nodes(attempt->layout().nodes());
  }
  return RunConfigOf(spec);
}

// Adds predictions for the job's slots, if the device kind of these slots is known.
absl::Status AddPredictions(const v1::Job& job, const std::string& calibration, Context& context,
                            planner::SmokeFacts& facts) {
  const v1::Attempt* attempt = NewestAttempt(job);
  if (attempt == nullptr || attempt->ranks().empty()) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(TrialCluster slots,
                             ClusterOfRank(attempt->ranks(0), facts.config, context));
  planner::Cluster& cluster = slots.cluster;
  if (cluster.device == nullptr) return absl::OkStatus();
  const bool is_gpu = facts.config.resources.device == DeviceKind::kGpu;
  const bool is_known = planner::PeakFlops(facts.config.train.precision, *cluster.device) > 0 &&
                        facts.config.layout.zero_size == 0;
  // Times of CPU slots can be predicted only with a calibration.
  if (is_known && (is_gpu || !calibration.empty())) {
    TRAINYARD_RETURN_IF_ERROR(ApplyCalibration(calibration, cluster));
    facts.predicted_tokens_per_second = ExpectationOf(facts.config, cluster).run.tokens_per_second;
  }
  if (!is_gpu) return absl::OkStatus();
  facts.device_bytes = static_cast<double>(cluster.device->rating->memory_bytes);
  // Predicts the memory of stage 0, because the reporting rank, rank 0, is in stage 0.
  facts.predicted_bytes = PredictStageMemory(facts.config, 0).Tensors();
  return absl::OkStatus();
}

planner::SmokeFacts FactsOf(const Trial& trial) {
  const TrialMetrics& metrics = trial.metrics;
  planner::SmokeFacts facts;
  facts.config = ConfigOf(trial.job);
  facts.end = OneLine(trial.Failure());
  if (const auto losses = metrics.find(telemetry::kLoss); losses != metrics.end()) {
    facts.losses = losses->second;
  }
  facts.grad_norm = SettledMedian(metrics, telemetry::kGradNorm);
  facts.tokens_per_second = SettledMedian(metrics, telemetry::kTokensPerSecond);
  facts.mfu = SettledMedian(metrics, telemetry::kMfu);
  facts.waits = MeasuredWaits(metrics);
  facts.memory_bytes = SettledMedian(metrics, telemetry::kMemoryBytes);
  return facts;
}

std::string CheckText(const planner::SmokeCheck& check) {
  std::string text =
      absl::StrFormat("  %-6s%-12s%s\n", check.ok ? "ok" : "fail", check.name, check.found);
  for (const planner::Finding& finding : check.findings) {
    absl::StrAppend(&text, "          ", finding.what, ": ", finding.why,
                    "\n          try: ", finding.right, "\n");
  }
  return text;
}

nlohmann::json CheckDocument(const planner::SmokeCheck& check) {
  nlohmann::json findings = nlohmann::json::array();
  for (const planner::Finding& finding : check.findings) {
    findings.push_back({{"what", finding.what}, {"why", finding.why}, {"change", finding.right}});
  }
  return {{"check", check.name}, {"ok", check.ok}, {"found", check.found}, {"findings", findings}};
}

bool AllOk(const std::vector<planner::SmokeCheck>& checks) {
  return std::ranges::all_of(checks, &planner::SmokeCheck::ok);
}

void PrintChecks(const Trial& trial, const std::vector<planner::SmokeCheck>& checks,
                 const std::string& data, Context& context) {
  Console& console = context.console;
  const std::string number = absl::StrCat(trial.job.id());
  if (IsTable(context.format)) {
    *console.out << "Smoke test of job " << number << " " << trial.job.name() << "\n";
    for (const planner::SmokeCheck& check : checks) *console.out << CheckText(check);
    PrintNote(console, absl::StrCat("  delete the job and its checkpoint  trainyard delete ",
                                    number, " --checkpoints -y"));
    return;
  }
  nlohmann::json document = {{"job", trial.job.id()},
                             {"name", trial.job.name()},
                             {"ok", AllOk(checks)},
                             {"substituted_data", nullptr},
                             {"checks", nlohmann::json::array()}};
  if (!data.empty()) document["substituted_data"] = data;
  for (const planner::SmokeCheck& check : checks)
    document["checks"].push_back(CheckDocument(check));
  PrintDocument(document, number, context.format, console);
}

}  // namespace

void AddSmoke(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<SmokeOptions>();
  CLI::App* command = app.add_subcommand(
      "smoke", "Run ten steps of a job and check loss, memory, speed and checkpoint");
  AddJobFileOptions(*command, options->job);
  AddTrialOptions(*command, options->steps, options->random_data, options->calibration);
  grammar.runners[command] = [options](Context& context) { return RunSmoke(*options, context); };
}

Outcome RunSmoke(const SmokeOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(ResolvedSpec resolved, ResolveJobFileOptions(options.job, context));
  if (!RunsOurTrainer(resolved.spec)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "smoke supports only trainyard-trainer, but this job ", ProgramRulesOf(resolved.spec).text,
        "; submit a short form of the job and follow it with `trainyard wait -f`"));
  }
  TrialData data;
  TRAINYARD_RETURN_IF_ERROR(data.Substitute(options.random_data, context, resolved));
  const TrialOptions trial_options{.steps = options.steps};
  TRAINYARD_ASSIGN_OR_RETURN(const ResolvedSpec spec, TrialSpec(resolved, trial_options, "-smoke"));
  const absl::StatusOr<Trial> trial = RunTrial(spec, trial_options, context);
  if (absl::IsCancelled(trial.status())) return ExitCode::kInterrupted;
  TRAINYARD_RETURN_IF_ERROR(trial.status());
  planner::SmokeFacts facts = FactsOf(*trial);
  TRAINYARD_RETURN_IF_ERROR(AddPredictions(trial->job, options.calibration, context, facts));
  VerifyCheckpoint(trial->job, context, facts);
  const std::vector<planner::SmokeCheck> checks = planner::CheckSmoke(facts);
  PrintChecks(*trial, checks, data.note(), context);
  return AllOk(checks) ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace trainyard::cli
