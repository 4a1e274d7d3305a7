#include "cli/commands/trials/tune.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands/trials/trial_data.h"
#include "cli/commands/trials/trial_job.h"
#include "cli/commands/trials/trial_options.h"
#include "cli/commands/trials/tune_slots.h"
#include "cli/grammar/job_file_options.h"
#include "cli/output/files/output_file.h"
#include "cli/output/plans/tune_view.h"
#include "cli/output/terminal/readable.h"
#include "cli/recipes/calibration_file.h"
#include "cli/recipes/sweep_file.h"
#include "controller/planner/calibration.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/tuning.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/json/message_json.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns the seconds per step of the job, without the waits for input data.
double WorkSeconds(const TrialMetrics& metrics) {
  return SettledMedian(metrics, telemetry::kStepSeconds) -
         SettledMedian(metrics, telemetry::kInputWaitSeconds);
}

v1::AttentionBackend SpecBackend(AttentionBackend backend) {
  return static_cast<v1::AttentionBackend>(backend);
}

planner::TuneResult ResultOf(const planner::TuneCandidate& candidate, const std::string& failure,
                             const TrialMetrics& metrics) {
  planner::TuneResult result;
  result.candidate = candidate;
  result.failure = OneLine(failure);
  result.out_of_memory = planner::IsOutOfMemory(result.failure);
  result.step_seconds = SettledMedian(metrics, telemetry::kStepSeconds);
  result.tokens_per_second = SettledMedian(metrics, telemetry::kTokensPerSecond);
  result.mfu = SettledMedian(metrics, telemetry::kMfu);
  result.memory_bytes = SettledMedian(metrics, telemetry::kMemoryBytes);
  result.measured = MeasuredParts(metrics);
  if (result.Ran() && result.tokens_per_second == 0) result.failure = "the run reported no steps";
  return result;
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, Context& context) : options_(options), context_(context) {}

  Outcome Run() {
    TRAINYARD_RETURN_IF_ERROR(Prepare());
    if (!options_.sweep.empty()) return WriteSweep();
    const absl::Status status = options_.measured.empty() ? Measure() : TakeMeasured();
    if (absl::IsCancelled(status)) return Interrupted();
    TRAINYARD_RETURN_IF_ERROR(status);
    Judge();
    Print();
    TRAINYARD_RETURN_IF_ERROR(WriteOverlay());
    TRAINYARD_RETURN_IF_ERROR(WriteCalibration());
    return report_.chosen.has_value() ? ExitCode::kOk : ExitCode::kFailed;
  }

 private:
  absl::Status Prepare() {
    TRAINYARD_ASSIGN_OR_RETURN(resolved_, ResolveJobFileOptions(options_.job, context_));
    TRAINYARD_RETURN_IF_ERROR(CheckTunable());
    const bool uses_files = !options_.sweep.empty() || !options_.measured.empty();
    if (uses_files) {
      TRAINYARD_RETURN_IF_ERROR(ReadMeasured());
      LeaveDataToTheMachine();
    } else {
      TRAINYARD_RETURN_IF_ERROR(data_.Substitute(options_.random_data, context_, resolved_));
      report_.substituted_data = data_.note();
    }
    TRAINYARD_ASSIGN_OR_RETURN(base_, TrialSpec(resolved_, trial_options_, "-tune"));
    report_.config = RunConfigOf(base_.spec);
    TRAINYARD_ASSIGN_OR_RETURN(report_.cluster, FindSlots());
    const std::string problem = planner::PrecisionProblem(report_.config, report_.cluster);
    if (!problem.empty()) return absl::InvalidArgumentError(problem);
    TRAINYARD_RETURN_IF_ERROR(ApplyCalibration(options_.calibration, report_.cluster));
    const bool is_gpu = report_.config.resources.device == DeviceKind::kGpu;
    report_.has_predictions = is_gpu || !options_.calibration.empty();
    return absl::OkStatus();
  }

  absl::StatusOr<planner::Cluster> FindSlots() {
    if (!options_.sweep.empty()) return NamedSlots(report_.config, options_.device);
    if (!options_.measured.empty()) return NamedSlots(report_.config, measured_.device);
    return SlotsOfJob(base_.spec, report_.config, context_);
  }

  // Reads the measured sweep, and uses its number of steps.
  absl::Status ReadMeasured() {
    if (options_.measured.empty()) return absl::OkStatus();
    TRAINYARD_ASSIGN_OR_RETURN(measured_, ReadSweep(options_.measured));
    trial_options_.steps = measured_.steps;
    if (measured_.data.empty()) return absl::OkStatus();
    report_.substituted_data = OneLine(measured_.data);
    PrintNote(context_.console, absl::StrCat("data: ", report_.substituted_data));
    return absl::OkStatus();
  }

  // If the job has no data, sets a placeholder path, because validation rejects a job without data.
  // The data is chosen on the machine that runs the sweep.
  void LeaveDataToTheMachine() {
    v1::DataSpec& data = *resolved_.spec.mutable_data();
    names_data_ = !data.path().empty() || !data.blend().empty();
    if (!names_data_) data.set_path("/of-the-machine");
  }

  absl::Status CheckTunable() const {
    if (!RunsOurTrainer(resolved_.spec)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tune supports only trainyard-trainer, but this job ",
                       ProgramRulesOf(resolved_.spec).text));
    }
    if (resolved_.spec.auto_layout()) {
      return absl::InvalidArgumentError(
          "tune needs a layout to start from, but this job has `layout: auto`; set `layout` to one "
          "that `trainyard plan --device` prints");
    }
    return absl::OkStatus();
  }

  // Returns the spec for the trainer, without `data` if the job names none.
  nlohmann::json SpecTextOf(const planner::TuneCandidate& candidate) const {
    nlohmann::json spec = MessageToJson(SpecOf(candidate).spec);
    if (!names_data_) spec.erase("data");
    return spec;
  }

  ResolvedSpec SpecOf(const planner::TuneCandidate& candidate) const {
    ResolvedSpec spec = base_;
    *spec.spec.mutable_layout() = LayoutSpecOf(candidate.layout);
    spec.spec.mutable_train()->set_attention_backend(SpecBackend(candidate.attention));
    return spec;
  }

  std::string TextOf(const planner::TuneCandidate& candidate) const {
    return planner::CandidateText(report_.config, candidate);
  }

  void AddResult(const planner::TuneCandidate& candidate, const std::string& failure,
                 const TrialMetrics& metrics) {
    report_.results.push_back(ResultOf(candidate, failure, metrics));
    work_seconds_.push_back(WorkSeconds(metrics));
    waits_.push_back(MeasuredWaits(metrics));
  }

  Outcome WriteSweep() {
    const bool is_cpu = report_.config.resources.device == DeviceKind::kCpu;
    Sweep sweep{.device = is_cpu ? kCpuSlots : options_.device,
                .steps = options_.steps,
                .layouts = options_.runs};
    const planner::TunePlan plan =
        planner::PlanUnattended(report_.config, report_.cluster, options_.runs);
    for (const planner::TuneCandidate& candidate : plan.candidates) {
      sweep.runs.push_back({TextOf(candidate), SpecTextOf(candidate), "", {}});
    }
    TRAINYARD_RETURN_IF_ERROR(WriteOutputFile(options_.sweep, SweepText(sweep), context_.console));
    PrintNote(context_.console,
              absl::StrCat(sweep.runs.size(), " runs of ", options_.steps,
                           " steps; measure them with tests/gpu/sweep.py, then repeat this command "
                           "with --measured FILE instead of --sweep"));
    return ExitCode::kOk;
  }

  // Adds the results of the measured sweep to the report.
  absl::Status TakeMeasured() {
    const planner::TunePlan plan =
        planner::PlanUnattended(report_.config, report_.cluster, measured_.layouts);
    report_.considered = plan.considered;
    report_.too_large = plan.too_large;
    if (plan.candidates.size() != measured_.runs.size()) {
      return OtherSweep(absl::StrCat("the file has ", measured_.runs.size(),
                                     " runs, but this job needs ", plan.candidates.size()));
    }
    for (size_t i = 0; i < measured_.runs.size(); ++i) {
      const SweepRun& run = measured_.runs[i];
      TRAINYARD_RETURN_IF_ERROR(CheckSameRun(i, plan.candidates[i]));
      AddResult(plan.candidates[i], run.failure, run.metrics);
    }
    return absl::OkStatus();
  }

  // Returns an error if the run differs from the candidate. Differences in `data` are ignored,
  // because step times do not depend on the tokens.
  absl::Status CheckSameRun(size_t index, const planner::TuneCandidate& candidate) const {
    nlohmann::json found = measured_.runs[index].spec;
    nlohmann::json planned = SpecTextOf(candidate);
    if (found.is_object()) found.erase("data");
    planned.erase("data");
    if (found == planned) return absl::OkStatus();
    const nlohmann::json difference = nlohmann::json::diff(found, planned);
    return OtherSweep(absl::StrCat(
        "run ", index + 1, " in the file is `", measured_.runs[index].settings,
        "`, but this run of the job is `", TextOf(candidate), "`; the first different setting is ",
        difference.front()["path"].get<std::string>()));
  }

  absl::Status OtherSweep(const std::string& why) const {
    return absl::InvalidArgumentError(absl::StrCat(
        options_.measured, " is a sweep of different settings: ", why,
        "; pass the job file, --set, --name and --calibration that you passed with --sweep, or "
        "measure again"));
  }

  absl::Status Measure() {
    const planner::TunePlan plan =
        planner::PlanTuning(report_.config, report_.cluster, options_.runs);
    report_.considered = plan.considered;
    report_.too_large = plan.too_large;
    planned_ = plan.candidates.size();
    for (const planner::TuneCandidate& candidate : plan.candidates) {
      TRAINYARD_RETURN_IF_ERROR(MeasureOne(candidate));
    }
    const std::optional<size_t> fastest = planner::ChooseResult(report_.results);
    if (!fastest.has_value()) return absl::OkStatus();
    const std::vector<planner::TuneCandidate> others =
        planner::OtherAttention(report_.config, report_.results[*fastest].candidate);
    planned_ += others.size();
    for (const planner::TuneCandidate& candidate : others) {
      TRAINYARD_RETURN_IF_ERROR(MeasureOne(candidate));
    }
    return absl::OkStatus();
  }

  // Measures one candidate. If the candidate's job fails, the failure becomes a row of the results.
  // A returned error ends the sweep.
  absl::Status MeasureOne(const planner::TuneCandidate& candidate) {
    PrintNote(context_.console, absl::StrCat("run ", report_.results.size() + 1, " of ", planned_,
                                             ": ", TextOf(candidate)));
    TRAINYARD_ASSIGN_OR_RETURN(const Trial trial,
                               RunTrial(SpecOf(candidate), trial_options_, context_));
    report_.jobs.push_back(trial.job.id());
    AddResult(candidate, trial.Failure(), trial.metrics);
    return absl::OkStatus();
  }

  ExitCode Interrupted() {
    if (!report_.results.empty()) Print();
    PrintNote(context_.console, absl::StrCat("the sweep ended after ", report_.results.size(),
                                             " of ", planned_, " runs; nothing was written"));
    return ExitCode::kInterrupted;
  }

  void Judge() {
    report_.chosen = planner::ChooseResult(report_.results);
    if (!report_.chosen.has_value()) {
      const planner::TuneResult& own = report_.results.front();
      const auto bytes = static_cast<double>(report_.cluster.device->rating->memory_bytes);
      if (own.out_of_memory) report_.findings = {planner::OutOfMemory(report_.config, bytes)};
      return;
    }
    const planner::TuneResult& chosen = report_.results[*report_.chosen];
    planner::SpeedFacts facts{.mfu = chosen.mfu, .waits = waits_[*report_.chosen]};
    if (report_.has_predictions &&
        chosen.candidate.attention == report_.config.train.attention_backend) {
      facts.expected = chosen.candidate.predicted.Total() / chosen.step_seconds;
    }
    report_.findings =
        planner::FindSlowness(planner::WithCandidate(report_.config, chosen.candidate), facts);
  }

  void Print() {
    if (IsTable(context_.format)) {
      PrintListing(TuneListing(report_), context_.format, context_.console);
      *context_.console.out << TuneSummary(report_);
    } else if (context_.format == OutputFormat::kCsv || context_.format == OutputFormat::kName) {
      PrintListing(TuneListing(report_), context_.format, context_.console);
    } else {
      PrintDocument(TuneDocument(report_), report_.config.name, context_.format, context_.console);
    }
  }

  // Returns a text such as "1 node of 2 H200, 2026-11-24, trainyard 0.1".
  std::string MeasuredOn() const {
    const std::string date =
        measured_.date.empty() ? IsoTime(context_.console.Now()).substr(0, 10) : measured_.date;
    return absl::StrCat(planner::ClusterText(report_.cluster), ", ", date, ", trainyard ",
                        TRAINYARD_VERSION);
  }

  absl::Status WriteOverlay() {
    if (options_.write.empty() || !report_.chosen.has_value()) return absl::OkStatus();
    const std::string& file = options_.job.file;
    const bool is_path = std::filesystem::exists(file);
    const std::string extends = is_path ? std::filesystem::absolute(file).string() : file;
    const double rate = report_.results[*report_.chosen].tokens_per_second;
    const std::string header =
        absl::StrCat("Chosen by `trainyard tune ", file, "`: ", CompactNumber(rate),
                     " tokens/s on ", MeasuredOn(), ".");
    return WriteOutputFile(options_.write, TuneOverlay(report_, extends, header), context_.console);
  }

  absl::Status WriteCalibration() {
    if (options_.calibrate.empty()) return absl::OkStatus();
    planner::Cluster plain = report_.cluster;
    plain.scale = {};
    std::vector<planner::MeasuredStep> runs;
    std::string jobs;
    if (report_.jobs.empty()) jobs = " those of " + options_.measured;
    for (size_t i = 0; i < report_.results.size(); ++i) {
      const planner::TuneResult& result = report_.results[i];
      // Runs that try another attention implementation have no predictions.
      if (!result.Ran() || result.candidate.reason == planner::TuneReason::kAttention) continue;
      RunConfig config = planner::WithCandidate(report_.config, result.candidate);
      config.layout.zero_size = 0;
      runs.push_back({planner::PredictStep(config, plain), result.measured, work_seconds_[i]});
      if (report_.jobs.empty()) continue;
      absl::StrAppend(&jobs, jobs.empty() ? " jobs " : ", ", report_.jobs[i]);
    }
    const std::optional<planner::Calibration> calibration =
        planner::Calibrate(std::string(plain.device->rating->name), runs);
    if (!calibration.has_value()) {
      return absl::FailedPreconditionError("no run succeeded that could be used for calibration; " +
                                           options_.calibrate + " was not written");
    }
    const std::string header = absl::StrFormat(
        "Measured by `trainyard tune %s` on %s,\nruns:%s. Each scale is the measured time of one "
        "part of a step, divided by the predicted time.\nMean error of the predicted step time in "
        "these runs: %.1f %% without calibration, %.1f %% with it.",
        options_.job.file, MeasuredOn(), jobs, 100 * calibration->error_before,
        100 * calibration->error_after);
    return WriteOutputFile(options_.calibrate, CalibrationText(*calibration, header),
                           context_.console);
  }

  const TuneOptions& options_;
  Context& context_;
  TrialOptions trial_options_{.steps = options_.steps, .kills = true};
  TrialData data_;
  ResolvedSpec resolved_;
  ResolvedSpec base_;  // The trial with the job file's settings.
  Sweep measured_;     // Empty if jobs are to make the measurements.
  bool names_data_ = true;
  TuneReport report_;
  size_t planned_ = 0;
  // The work seconds of each result.
  std::vector<double> work_seconds_;
  std::vector<planner::StepWaits> waits_;
};

// Adds the options that exchange sweeps through files, for machines without daemons.
void AddSweepFiles(CLI::App& command, TuneOptions& options) {
  CLI::Option* sweep = command.add_option(
      "--sweep", options.sweep,
      "write the planned runs to this file and submit nothing; tests/gpu/sweep.py then measures "
      "them on a machine without controller and worker");
  sweep->type_name("FILE")->excludes("--random-data");
  command.add_option("--device", options.device, "with --sweep: GPU type, such as H200")
      ->needs(sweep);
  command
      .add_option("--measured", options.measured,
                  "evaluate this sweep, which sweep.py has measured, and submit nothing")
      ->type_name("FILE")
      ->excludes(sweep)
      ->excludes("--random-data")
      ->excludes("--steps")
      ->excludes("--runs");
}

}  // namespace

void AddTune(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<TuneOptions>();
  CLI::App* command =
      app.add_subcommand("tune",
                         "Measure settings of micro-batch, recomputation, ZeRO and attention in "
                         "short jobs, and choose the fastest settings");
  AddJobFileOptions(*command, options->job);
  AddTrialOptions(*command, options->steps, options->random_data, options->calibration);
  command
      ->add_option("--runs", options->runs,
                   "maximum number of layouts to measure (default: 8); runs with other attention "
                   "backends do not count")
      ->check(CLI::Range(2, 100));
  AddSweepFiles(*command, *options);
  command
      ->add_option("--write", options->write,
                   "write a job file that extends this job with the chosen settings")
      ->type_name("FILE");
  command
      ->add_option("--calibrate", options->calibrate,
                   "write the measurements to a file for --calibration")
      ->type_name("FILE");
  command->get_option("--sweep")->excludes("--write")->excludes("--calibrate");
  grammar.runners[command] = [options](Context& context) { return RunTune(*options, context); };
}

Outcome RunTune(const TuneOptions& options, Context& context) {
  return Tuner(options, context).Run();
}

}  // namespace trainyard::cli
