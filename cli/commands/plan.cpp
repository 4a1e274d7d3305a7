#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_file.h"
#include "cli/output/job_views.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/jobspec/rules.h"
#include "proto/jobspec/run_config_of.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The controller's answer, or the reason why there is none.
struct Placement {
  absl::StatusOr<v1::PlanJobResponse> answer = absl::UnavailableError("not asked");
  // The reason why there is no answer although the job is valid; empty when there is an answer.
  std::string skipped;
};

bool DidNotAnswer(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

Placement AskController(const v1::JobSpec& spec, bool offline, Context& context) {
  Placement placement;
  if (offline) {
    placement.skipped = "not asked (--offline)";
    return placement;
  }
  v1::PlanJobRequest request;
  *request.mutable_spec() = spec;
  placement.answer = context.client.PlanJob(request);
  if (DidNotAnswer(placement.answer.status())) {
    placement.skipped = absl::StrCat("no controller answered at ", context.client.server());
  }
  return placement;
}

nlohmann::json PlanDocument(const ResolvedSpec& resolved, const Placement& placement) {
  nlohmann::json document = {{"spec", MessageToJson(resolved.spec)},
                             {"origins", resolved.origins},
                             {"world_size", WorldSize(resolved.spec)},
                             {"checked_by_controller", placement.skipped.empty()},
                             {"warnings", CheckLaunch(resolved.spec, resolved.origins)},
                             {"refusal", nullptr}};
  const v1::PlanJobResponse none;
  const nlohmann::json answer = StableJson(placement.answer.ok() ? *placement.answer : none);
  // emplace keeps the settings as this command resolved them, also where the answer repeats them.
  for (const auto& [key, value] : answer.items()) document.emplace(key, value);
  if (placement.skipped.empty() && !placement.answer.ok()) {
    document["refusal"] = std::string(placement.answer.status().message());
  }
  return document;
}

void PrintWarnings(const std::vector<std::string>& warnings, Console& console) {
  if (warnings.empty()) return;
  *console.out << "\nsubmit would refuse this job\n";
  for (const std::string& warning : warnings) *console.out << "  " << OneLine(warning) << "\n";
}

void PrintPlacement(const ResolvedSpec& resolved, const Placement& placement, Console& console) {
  std::ostream& out = *console.out;
  out << "\nPlacement of " << WorldSize(resolved.spec) << " ranks\n";
  if (!placement.skipped.empty()) {
    out << "  unknown: " << placement.skipped << "\n";
    return;
  }
  if (!placement.answer.ok()) {
    out << "  refused\n";
    return;
  }
  const v1::PlanJobResponse& answer = *placement.answer;
  out << RanksText(answer.ranks(), answer.node_names());
  if (answer.starts_now()) {
    out << "  starts at once\n";
    return;
  }
  out << "  waits: " << OneLine(answer.pending().message()) << "\n";
  if (!answer.pending().advice().empty()) {
    out << "  try: " << OneLine(answer.pending().advice()) << "\n";
  }
}

}  // namespace

absl::StatusOr<ResolvedSpec> ResolveOptions(const JobFileOptions& options, const Context& context) {
  std::vector<std::string> overrides = options.sets;
  if (!options.name.empty()) overrides.push_back("name=" + options.name);
  if (!options.command.empty()) {
    // A JSON list of strings is a YAML list of strings: the loader reads it without guessing.
    overrides.push_back("command=" + DumpJson(options.command, -1));
  }
  absl::StatusOr<ResolvedSpec> resolved =
      ResolveJobFile(options.file, overrides, FileSystemReader(context.recipe_directories));
  if (!resolved.ok()) {
    return absl::InvalidArgumentError(resolved.status().message());
  }
  if (!options.name.empty()) resolved->origins["name"] = "--name";
  if (!options.command.empty()) resolved->origins["command"] = "command line";
  return resolved;
}

Outcome RunPlan(const PlanOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const ResolvedSpec resolved, ResolveOptions(options.job, context));
  const Placement placement = AskController(resolved.spec, options.offline, context);
  Console& console = context.console;
  switch (context.format) {
    case OutputFormat::kTable:
    case OutputFormat::kWide:
      PrintListing(SpecListing(resolved.spec, resolved.origins), context.format, console);
      PrintPlacement(resolved, placement, console);
      PrintWarnings(CheckLaunch(resolved.spec, resolved.origins), console);
      break;
    case OutputFormat::kCsv:
      PrintListing(SpecListing(resolved.spec, resolved.origins), context.format, console);
      break;
    default:
      PrintDocument(PlanDocument(resolved, placement), resolved.spec.name(), context.format,
                    console);
  }
  if (!placement.skipped.empty()) {
    PrintNote(console, absl::StrCat("note: the job file is valid; where it would run is unknown: ",
                                    placement.skipped));
    return ExitCode::kOk;
  }
  TRAINYARD_RETURN_IF_ERROR(placement.answer.status());
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
