#include "cli/commands/planning/plan.h"

#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/planning/node_software.h"
#include "cli/commands/planning/plan_layout.h"
#include "cli/grammar/job_file_options.h"
#include "cli/grammar/svg_option.h"
#include "cli/output/files/output_file.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/plans/distance_view.h"
#include "cli/output/plans/plan_figures.h"
#include "cli/output/plans/plan_view.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules.h"
#include "proto/jobspec/rules/resume_check.h"
#include "proto/json/message_json.h"
#include "proto/memory/memory_advice.h"
#include "proto/memory/memory_model.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The controller's answer or refusal about the job's placement, or the reason why both are missing.
struct Placement {
  absl::StatusOr<v1::PlanJobResponse> answer =
      absl::UnavailableError("the controller was not contacted");
  // The reason why the controller was not asked or did not answer; empty if it answered or refused.
  std::string unknown_because;
};

// True for the codes with which the controller refuses a job. All other codes mean that the
// controller could not answer.
bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
         absl::IsAlreadyExists(status) || absl::IsResourceExhausted(status);
}

std::string WhyUnknown(const absl::Status& status, const std::string& server) {
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    return absl::StrCat("no controller answered at ", server);
  }
  return absl::StrCat("the controller at ", server, " failed: ", status.message());
}

Placement AskController(const v1::JobSpec& spec, bool offline, Context& context) {
  Placement placement;
  if (offline) {
    placement.unknown_because = "controller not contacted (--offline)";
    return placement;
  }
  v1::PlanJobRequest request;
  *request.mutable_spec() = spec;
  placement.answer = context.client.PlanJob(request);
  if (const absl::Status& status = placement.answer.status(); !status.ok() && !IsRefusal(status)) {
    placement.unknown_because = WhyUnknown(status, context.client.server());
  }
  return placement;
}

// Returns the predicted bytes per GPU. Returns nullopt for jobs that run other programs, use CPUs,
// could not start, or let the controller choose the layout.
std::optional<double> PredictedMemory(const ResolvedSpec& resolved) {
  const RunConfig config = RunConfigOf(resolved.spec);
  const bool is_known = RunsOurTrainer(resolved.spec) && !resolved.spec.auto_layout() &&
                        config.resources.device == DeviceKind::kGpu &&
                        CheckLaunch(resolved.spec, resolved.origins).empty();
  if (!is_known) return std::nullopt;
  return PredictTrainingMemory(config).Total();
}

void PrintMemory(const ResolvedSpec& resolved, Console& console) {
  const std::optional<double> bytes = PredictedMemory(resolved);
  if (!bytes.has_value()) return;
  *console.out << "\nPredicted peak memory per GPU: " << GigabytesText(*bytes) << "\n";
}

// Returns the reasons why the job could not start with these settings and this checkpoint.
std::vector<std::string> WarningsOf(const ResolvedSpec& resolved, const CheckpointFit& start) {
  std::vector<std::string> warnings = CheckLaunch(resolved.spec, resolved.origins);
  if (!start.problem.empty()) warnings.push_back(start.problem);
  return warnings;
}

nlohmann::json PlanDocument(const ResolvedSpec& resolved, const Placement& placement,
                            const CheckpointFit& start) {
  nlohmann::json document = {{"spec", MessageToJson(resolved.spec)},
                             {"origins", resolved.origins},
                             {"world_size", WorldSize(resolved.spec)},
                             {"checked_by_controller", placement.unknown_because.empty()},
                             {"warnings", WarningsOf(resolved, start)},
                             {"resume_from_unchecked", nullptr},
                             {"predicted_memory_bytes", nullptr},
                             {"refusal", nullptr}};
  if (const std::optional<double> bytes = PredictedMemory(resolved); bytes.has_value()) {
    document["predicted_memory_bytes"] = std::llround(*bytes);
  }
  if (!start.unchecked.empty()) document["resume_from_unchecked"] = start.unchecked;
  // An empty message replaces a missing answer, so that the document always has all keys.
  const v1::PlanJobResponse none;
  const nlohmann::json answer = StableJson(placement.answer.ok() ? *placement.answer : none);
  // emplace does not overwrite keys, so the document keeps the spec that this command resolved.
  for (const auto& [key, value] : answer.items()) document.emplace(key, value);
  if (placement.unknown_because.empty() && !placement.answer.ok()) {
    document["refusal"] = std::string(placement.answer.status().message());
  }
  return document;
}

// Prints, as warnings, the problems for which `submit` would reject the job.
void PrintWarnings(const std::vector<std::string>& warnings, Console& console) {
  if (warnings.empty()) return;
  *console.out << "\nsubmit would refuse this job\n";
  for (const std::string& warning : warnings) *console.out << "  " << OneLine(warning) << "\n";
}

// Returns the number of ranks to place. For an elastic job, this is the number that fits.
int RanksToPlace(const ResolvedSpec& resolved, const Placement& placement) {
  const bool is_placed = placement.unknown_because.empty() && placement.answer.ok();
  if (IsElastic(resolved.spec) && is_placed) return placement.answer->ranks_size();
  return WorldSize(resolved.spec);
}

void PrintPlacement(const ResolvedSpec& resolved, const Placement& placement, Console& console) {
  std::ostream& out = *console.out;
  out << "\nPlacement of " << RanksToPlace(resolved, placement) << " ranks\n";
  if (!placement.unknown_because.empty()) {
    out << "  unknown: " << placement.unknown_because << "\n";
    return;
  }
  if (!placement.answer.ok()) {
    out << "  refused\n";
    return;
  }
  const v1::PlanJobResponse& answer = *placement.answer;
  if (answer.has_layout() && answer.layout().nodes() > 0) {
    out << "  layout: " << GrantedText(answer.layout()) << ", predicted step time "
        << NumberText(answer.layout().step_seconds(), 3) << " s\n";
  }
  out << RanksText(answer.ranks(), answer.node_names()) << DistancesText(answer.axis_distances());
  if (answer.has_step_seconds()) {
    out << "  predicted step time on these nodes: " << NumberText(answer.step_seconds(), 3)
        << " s\n";
  }
  if (answer.starts_now()) {
    out << "  starts immediately\n";
    const std::string& warning = answer.pending().advice();
    if (!warning.empty()) out << "  warning: " << OneLine(warning) << "\n";
    return;
  }
  out << "  waits: " << OneLine(answer.pending().message()) << "\n";
  if (!answer.pending().advice().empty()) {
    out << "  try: " << OneLine(answer.pending().advice()) << "\n";
  }
}

// Plans without a controller. If no layout fits, prints an error that states what is missing, and
// returns kFailed. Returns INVALID_ARGUMENT for an unknown device or network, and for features that
// the device lacks.
Outcome PlanOnDevice(const PlanOptions& options, Context& context) {
  const planner::LayoutChoice choice =
      options.layout == "written" ? planner::LayoutChoice::kWritten : planner::LayoutChoice::kBest;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::LayoutPlan plan,
                             PlanFor(options.job, options.cluster, choice, context));
  PrintPlanNotes(plan, context.console);
  if (!IsTable(context.format)) {
    PrintDocument(LayoutPlanDocument(plan), plan.config.name, context.format, context.console);
  } else if (!plan.problem.has_value()) {
    *context.console.out << LayoutPlanText(plan);
  }
  if (!plan.problem.has_value()) {
    if (!options.svg.empty()) {
      TRAINYARD_RETURN_IF_ERROR(WriteOutputFile(options.svg, StepTimeSvg(plan), context.console));
    }
    return ExitCode::kOk;
  }
  PrintError(context.console, planner::ProblemText(*plan.problem));
  return ExitCode::kFailed;
}

// Prints which nodes lack the job's container launcher, as far as their workers have reported it.
void PrintMissingLauncher(const v1::JobSpec& spec, const Placement& placement, Context& context) {
  if (!spec.environment().has_container() || !placement.answer.ok()) return;
  const auto checks = context.client.CheckNodes({});
  const std::string text = checks.ok() ? MissingLauncherText(spec, *checks) : "";
  if (!text.empty()) PrintNote(context.console, absl::StrCat("note: ", text));
}

}  // namespace

void AddPlan(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = parent.add_subcommand(
      "plan",
      "Show each setting of a job with its origin, and where the ranks of the job would run");
  AddJobFileOptions(*command, options->job);
  command->add_flag("--offline", options->offline, "do not contact the controller");
  CLI::Option* device = AddClusterOptions(*command, options->cluster);
  command
      ->add_option("--layout", options->layout,
                   "layout to show with --device: best, or written (the layout in the job file); "
                   "default: best")
      ->check(CLI::IsMember({"best", "written"}))
      ->needs(device);
  AddSvgOption(*command, options->svg, "write a chart of the parts of the step time")
      ->needs(device);
  grammar.takes_command.insert(command);
  grammar.runners[command] = [options, &grammar](Context& context) {
    options->job.command = grammar.command;
    return RunPlan(*options, context);
  };
}

Outcome RunPlan(const PlanOptions& options, Context& context) {
  if (!options.cluster.request.device.empty()) return PlanOnDevice(options, context);
  TRAINYARD_ASSIGN_OR_RETURN(const ResolvedSpec resolved,
                             ResolveJobFileOptions(options.job, context));
  const Placement placement = AskController(resolved.spec, options.offline, context);
  const CheckpointFit start = CheckResumeFrom(resolved.spec);
  Console& console = context.console;
  switch (context.format) {
    case OutputFormat::kTable:
    case OutputFormat::kWide:
      PrintListing(SpecListing(resolved.spec, resolved.origins), context.format, console);
      PrintMemory(resolved, console);
      PrintPlacement(resolved, placement, console);
      PrintWarnings(WarningsOf(resolved, start), console);
      break;
    case OutputFormat::kCsv:
      PrintListing(SpecListing(resolved.spec, resolved.origins), context.format, console);
      break;
    default:
      PrintDocument(PlanDocument(resolved, placement, start), resolved.spec.name(), context.format,
                    console);
  }
  PrintBenchmarkNote(RunConfigOf(resolved.spec), console);
  if (!start.unchecked.empty()) PrintNote(console, absl::StrCat("note: ", start.unchecked));
  if (!placement.unknown_because.empty()) {
    PrintNote(console, absl::StrCat("note: the job file is valid, but its placement is unknown: ",
                                    placement.unknown_because));
    return ExitCode::kOk;
  }
  TRAINYARD_RETURN_IF_ERROR(placement.answer.status());
  PrintMissingLauncher(resolved.spec, placement, context);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
