#include "cli/commands/checkpoints/list.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/answered_at.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddCheckpointList(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointListOptions>();
  CLI::App* command = noun.add_subcommand("list", "List the checkpoints of a job");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_flag("-a,--all", options->all, "include checkpoints deleted by retention");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointList(*options, context);
  };
}

Outcome RunCheckpointList(const CheckpointListOptions& options, Context& context) {
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  Console& console = context.console;
  const Listing listing =
      CheckpointListing(response.job(), options.all, AnsweredAt(response, console));
  PrintListing(listing, context.format, console);
  if (listing.rows.empty() && IsTable(context.format)) {
    PrintNote(console, absl::StrCat("job ", response.job().id(), " has published no checkpoint"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
