#include "cli/commands/trials/trial_job.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/jobs/reading/waiting_note.h"
#include "cli/commands/jobs/submission/submission.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/jobs/progress_line.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/figures.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// A trial that is to be killed is submitted with this many times the requested steps. The trial
// then ends even if the command dies before the kill.
constexpr int64_t kStepsUnwatched = 20;
// Medians exclude the first steps: 1 / kSettlingPart of all steps, but at least kSettlingSteps.
constexpr size_t kSettlingPart = 5;
constexpr size_t kSettlingSteps = 2;
// The pause between two requests for metrics. The metrics of the last steps may arrive after the
// job has ended.
constexpr std::chrono::milliseconds kMetricPause{100};
constexpr int kMetricTries = 100;

const std::vector<std::string>& MetricNames() {
  static const std::vector<std::string> names = {telemetry::kLoss,
                                                 telemetry::kGradNorm,
                                                 telemetry::kStepSeconds,
                                                 telemetry::kTokensPerSecond,
                                                 telemetry::kMfu,
                                                 telemetry::kMemoryBytes,
                                                 telemetry::kComputeSeconds,
                                                 telemetry::kOptimizerSeconds,
                                                 telemetry::kInputWaitSeconds,
                                                 telemetry::kTensorWaitSeconds,
                                                 telemetry::kContextWaitSeconds,
                                                 telemetry::kExpertWaitSeconds,
                                                 telemetry::kPipelineWaitSeconds,
                                                 telemetry::kDataWaitSeconds,
                                                 telemetry::kWorldWaitSeconds};
  return names;
}

std::string TrialName(const std::string& name, const std::string& suffix) {
  return absl::StrCat(name.substr(0, kMaxJobNameBytes - suffix.size()), suffix);
}

void CutTrain(int64_t steps, v1::TrainSpec& train) {
  train.clear_tokens();
  train.clear_samples();
  train.clear_rampup_batch_start();
  train.clear_rampup_batch_increment();
  train.clear_rampup_batch_samples();
  train.set_steps(steps);
  train.set_log_every_steps(1);
}

v1::ScheduleSpec TrialSchedule(int64_t warmup_steps) {
  v1::ScheduleSpec schedule;
  schedule.set_kind(v1::SCHEDULE_KIND_CONSTANT);
  schedule.set_warmup_steps(warmup_steps);
  return schedule;
}

void CutCheckpoints(v1::CheckpointSpec& checkpoint) {
  checkpoint.clear_dir();  // Trials must not use the directory of real checkpoints.
  checkpoint.clear_best_metric();
  checkpoint.clear_always_save_checkpoint();
  checkpoint.set_every_steps(0);
  checkpoint.set_keep_best(0);
}

class TrialRun {
 public:
  TrialRun(const TrialOptions& options, Context& context)
      : options_(options), context_(context), progress_(context.console) {}

  absl::StatusOr<Trial> Run(const ResolvedSpec& spec) {
    Interrupt& interrupt = *context_.environment.interrupt;
    if (context_.environment.listen_to_signals) interrupt.Listen();
    TRAINYARD_ASSIGN_OR_RETURN(trial_.job, SubmitResolved(spec, {MakeRequestId()}, context_));
    absl::Status status = Watch(options_.kills);
    if (status.ok() && !HasEnded(trial_.job.state())) {
      trial_.killed = true;
      TRAINYARD_RETURN_IF_ERROR(Kill());
      status = Watch(/*until_steps=*/false);
    }
    progress_.Clear();
    if (absl::IsCancelled(status)) return Abandon();
    TRAINYARD_RETURN_IF_ERROR(status);
    TRAINYARD_RETURN_IF_ERROR(ReadJob());
    TRAINYARD_RETURN_IF_ERROR(ReadMetrics());
    return std::move(trial_);
  }

 private:
  std::string Number() const { return absl::StrCat(trial_.job.id()); }

  // Watches until the job has ended or, with `until_steps`, has completed its steps.
  absl::Status Watch(bool until_steps) {
    v1::WatchJobRequest request;
    request.set_job(Number());
    const StreamControl control{context_.environment.interrupt, std::nullopt, [this] {
                                  progress_.Note("connection to the controller lost; reconnecting");
                                }};
    return context_.client.WatchJob(request, control, [&](const v1::WatchJobResponse& response) {
      trial_.job = response.job();
      progress_.Show(trial_.job);
      if (trial_.job.state() == v1::JOB_STATE_QUEUED) ShowWhyQueued();
      const bool is_done = until_steps && trial_.job.progress().step() >= options_.steps;
      return !HasEnded(trial_.job.state()) && !is_done;
    });
  }

  void ShowWhyQueued() {
    if (std::exchange(asked_why_, true)) return;
    for (const std::string& note : WaitingNotes(Number(), context_.client)) progress_.Note(note);
  }

  // Returns OK even if the job has already ended.
  absl::Status Kill() {
    v1::StopJobRequest request;
    request.set_job(Number());
    request.set_kill(true);
    request.set_user(context_.environment.user);
    const absl::Status status = context_.client.StopJob(request).status();
    return absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
  }

  absl::Status Abandon() {
    if (const absl::Status status = Kill(); !status.ok()) {
      PrintNote(context_.console, absl::StrCat("interrupted; job ", Number(),
                                               " could not be killed: ", status.message(),
                                               "\n  try  trainyard kill ", Number()));
    } else {
      PrintNote(context_.console, absl::StrCat("interrupted; killed job ", Number()));
    }
    return absl::CancelledError("interrupted");
  }

  absl::Status ReadJob() {
    v1::GetJobRequest request;
    request.set_job(Number());
    TRAINYARD_ASSIGN_OR_RETURN(v1::GetJobResponse response, context_.client.GetJob(request));
    trial_.job = std::move(*response.mutable_job());
    return absl::OkStatus();
  }

  absl::Status ReadMetrics() {
    const v1::Attempt* attempt = NewestAttempt(trial_.job);
    const int64_t last = std::min(attempt == nullptr ? 0 : attempt->last_step(), options_.steps);
    v1::GetSeriesRequest request;
    request.set_job(Number());
    request.set_to_step(options_.steps);
    request.mutable_keys()->Add(MetricNames().begin(), MetricNames().end());
    for (int i = 0; i < kMetricTries; ++i) {
      TRAINYARD_ASSIGN_OR_RETURN(const v1::GetSeriesResponse response,
                                 context_.client.GetSeries(request));
      trial_.metrics.clear();
      for (const v1::Series& series : response.series()) {
        trial_.metrics[series.key()].assign(series.last().begin(), series.last().end());
      }
      if (static_cast<int64_t>(trial_.metrics[telemetry::kLoss].size()) >= last) break;
      if (context_.environment.interrupt->WaitFor(kMetricPause)) break;
    }
    return absl::OkStatus();
  }

  const TrialOptions& options_;
  Context& context_;
  ProgressLine progress_;
  Trial trial_;
  bool asked_why_ = false;
};

const v1::Node* NodeById(const v1::ListNodesResponse& nodes, const std::string& id) {
  const auto found = std::ranges::find(nodes.nodes(), id, &v1::Node::id);
  return found == nodes.nodes().end() ? nullptr : &*found;
}

}  // namespace

std::string Trial::Failure() const {
  if (killed || job.state() == v1::JOB_STATE_SUCCEEDED) return "";
  const std::string& tail = job.verdict().log_tail();
  return absl::StrCat(job.verdict().summary(), tail.empty() ? "" : ": ", tail);
}

absl::StatusOr<ResolvedSpec> TrialSpec(const ResolvedSpec& resolved, const TrialOptions& options,
                                       const std::string& suffix) {
  ResolvedSpec trial = resolved;
  v1::JobSpec& spec = trial.spec;
  spec.set_name(TrialName(resolved.spec.name(), suffix));
  CutTrain(options.kills ? kStepsUnwatched * options.steps : options.steps, *spec.mutable_train());
  *spec.mutable_schedule() = TrialSchedule(options.steps);
  spec.mutable_evaluation()->set_every_steps(0);
  spec.mutable_evaluation()->set_only(false);
  CutCheckpoints(*spec.mutable_checkpoint());
  spec.mutable_restart()->set_max_restarts(0);
  // Without spares, a failure is reported instead of healed.
  spec.mutable_restart()->set_spares(0);
  FillDefaults(spec, trial.origins);
  const std::vector<std::string> problems = CheckSubmission(spec, trial.origins);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return trial;
}

absl::StatusOr<Trial> RunTrial(const ResolvedSpec& trial, const TrialOptions& options,
                               Context& context) {
  return TrialRun(options, context).Run(trial);
}

double SettledMedian(const TrialMetrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  if (found == metrics.end() || found->second.empty()) return 0;
  const std::vector<double>& all = found->second;
  const size_t skipped =
      std::min(std::max(all.size() / kSettlingPart, kSettlingSteps), all.size() - 1);
  return planner::MedianOf({all.begin() + static_cast<std::ptrdiff_t>(skipped), all.end()});
}

planner::StepTime MeasuredParts(const TrialMetrics& metrics) {
  planner::StepTime step;
  step.compute = SettledMedian(metrics, telemetry::kComputeSeconds);
  step.optimizer = SettledMedian(metrics, telemetry::kOptimizerSeconds);
  step.tensor_wait = SettledMedian(metrics, telemetry::kTensorWaitSeconds);
  step.context_wait = SettledMedian(metrics, telemetry::kContextWaitSeconds);
  step.expert_wait = SettledMedian(metrics, telemetry::kExpertWaitSeconds);
  step.pipeline_wait = SettledMedian(metrics, telemetry::kPipelineWaitSeconds);
  step.data_wait = SettledMedian(metrics, telemetry::kDataWaitSeconds);
  step.world_wait = SettledMedian(metrics, telemetry::kWorldWaitSeconds);
  return step;
}

planner::StepWaits MeasuredWaits(const TrialMetrics& metrics) {
  return {.step = SettledMedian(metrics, telemetry::kStepSeconds),
          .input = SettledMedian(metrics, telemetry::kInputWaitSeconds),
          .tensor = SettledMedian(metrics, telemetry::kTensorWaitSeconds),
          .context = SettledMedian(metrics, telemetry::kContextWaitSeconds),
          .expert = SettledMedian(metrics, telemetry::kExpertWaitSeconds),
          .pipeline = SettledMedian(metrics, telemetry::kPipelineWaitSeconds),
          .data = SettledMedian(metrics, telemetry::kDataWaitSeconds)};
}

absl::StatusOr<TrialCluster> ClusterOfRank(const v1::RankPlacement& rank, const RunConfig& config,
                                           Context& context) {
  TrialCluster found;
  found.cluster.nodes = config.resources.nodes;
  found.cluster.per_node = config.resources.slots_per_node;
  if (config.resources.device == DeviceKind::kCpu) {
    found.cluster.device = &planner::CpuSlotSpec();
    found.model = "cpu";
  } else {
    TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse nodes, context.client.ListNodes({}));
    const v1::Node* node = NodeById(nodes, rank.node_id());
    if (node != nullptr && rank.slot() < node->inventory().slots_size()) {
      found.model = node->inventory().slots(rank.slot()).model();
    }
    found.cluster.device = planner::FindDeviceSpec(found.model);
  }
  if (found.cluster.device != nullptr) {
    found.cluster.network = *planner::FindNetwork(found.cluster.device->network);
  }
  return found;
}

}  // namespace trainyard::cli
