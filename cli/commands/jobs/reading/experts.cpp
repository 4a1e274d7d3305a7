#include "cli/commands/jobs/reading/experts.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/experts_view.h"
#include "cli/output/jobs/health_view.h"
#include "cli/output/terminal/table.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::Status NoRecord(const ExpertsOptions& options, const v1::GetExpertsResponse& response) {
  if (response.steps().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", options.job,
                     " has not reported the load of experts; a model with experts reports it with "
                     "its first logged step, and a model without experts never does"));
  }
  return absl::NotFoundError(absl::StrCat("job ", options.job, " has no record at or before step ",
                                          options.step, "; the oldest is of step ",
                                          response.steps(0)));
}

}  // namespace

void AddExperts(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ExpertsOptions>();
  CLI::App* command =
      parent.add_subcommand("experts", "Show how evenly a job's experts share the load");
  command->add_option("job", options->job, kJobHelp)->required();
  command
      ->add_option("--step", options->step,
                   "newest record at or before this step (default: the newest record)")
      ->check(CLI::PositiveNumber);
  grammar.runners[command] = [options](Context& context) { return RunExperts(*options, context); };
}

Outcome RunExperts(const ExpertsOptions& options, Context& context) {
  v1::GetExpertsRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  request.set_step(options.step);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetExpertsResponse response,
                             context.client.GetExperts(request));
  if (!response.has_balance()) return NoRecord(options, response);
  Console& console = context.console;
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    PrintDocument(StableJson(response), options.job, context.format, console);
    return ExitCode::kOk;
  }
  if (IsTable(context.format)) *console.out << BalanceText(response.balance()) << "\n";
  PrintListing(BalanceListing(response.balance()), context.format, console);
  if (!IsTable(context.format)) return ExitCode::kOk;
  for (const v1::RunFinding& finding : response.findings()) *console.out << FindingText(finding);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
