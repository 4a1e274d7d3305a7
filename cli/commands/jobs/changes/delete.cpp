#include "cli/commands/jobs/changes/delete.h"

#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/commands/jobs/changes/change_jobs.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

std::string RemovalLine(const v1::RemovableCheckpoint& checkpoint) {
  if (!checkpoint.link_target().empty()) {
    return absl::StrCat("the link ", checkpoint.real_path(), "; the target of the link, ",
                        checkpoint.link_target(), ", is kept");
  }
  return absl::StrCat(checkpoint.real_path(), "  ", checkpoint.more() ? "more than " : "",
                      BytesText(checkpoint.bytes()), " in ", checkpoint.entries(),
                      checkpoint.entries() == 1 ? " entry" : " entries");
}

void PrintRemovals(const v1::DeleteJobResponse& response, std::ostream& out) {
  for (const v1::RemovableCheckpoint& checkpoint : response.removable()) {
    out << "  removes  " << RemovalLine(checkpoint) << "\n";
  }
  if (!response.removable().empty()) return;
  // An older controller returns only the paths of the checkpoints.
  for (const std::string& path : response.checkpoints()) out << "  removes  " << path << "\n";
}

void PrintTable(const v1::DeleteJobResponse& response, Context& context) {
  std::ostream& out = *context.console.out;
  out << "job " << response.job_id() << " " << response.name()
      << (response.deleted() ? " deleted\n" : " would be deleted\n");
  for (const v1::DeletedData& data : response.data()) {
    if (data.kind() == "checkpoints" && response.checkpoints().empty()) continue;
    out << "  " << data.kind() << "  " << BytesText(data.bytes()) << "\n";
  }
  PrintRemovals(response, out);
  for (const v1::KeptCheckpoint& kept : response.kept()) {
    out << "  leaves   " << kept.path() << ": " << kept.reason() << "\n";
  }
}

void Print(const v1::DeleteJobResponse& response, Context& context) {
  if (context.format == OutputFormat::kJson) {
    // Indent -1 prints each object on one line, because there may be several jobs.
    *context.console.out << DumpJson(StableJson(response), -1) << "\n";
  } else if (IsTable(context.format)) {
    PrintTable(response, context);
  } else {
    PrintDocument(StableJson(response), absl::StrCat(response.job_id()), context.format,
                  context.console);
  }
}

}  // namespace

void AddDelete(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<DeleteOptions>();
  CLI::App* command = parent.add_subcommand("delete",
                                            "Delete ended jobs with their events, metrics and "
                                            "logs; without -y, only show what would be deleted");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("--checkpoints", options->checkpoints,
                    "also delete the checkpoints of these jobs, if the controller permits it");
  command->add_flag("-y,--yes", options->yes,
                    "delete the jobs; without this option, only show what would be deleted");
  grammar.runners[command] = [options](Context& context) { return RunDelete(*options, context); };
}

Outcome RunDelete(const DeleteOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ParseWholeJobs(options.jobs));
  const ExitCode code = ForEachJob(
      jobs,
      [&](const std::string& job) -> absl::Status {
        v1::DeleteJobRequest request;
        request.set_job(job);
        request.set_confirmed(options.yes);
        request.set_checkpoints(options.checkpoints);
        request.set_user(context.environment.user);
        TRAINYARD_ASSIGN_OR_RETURN(const v1::DeleteJobResponse response,
                                   context.client.DeleteJob(request));
        Print(response, context);
        return absl::OkStatus();
      },
      context);
  if (!options.yes && code == ExitCode::kOk) {
    PrintNote(context.console, "nothing was deleted; add --yes to delete");
  }
  return code;
}

}  // namespace trainyard::cli
