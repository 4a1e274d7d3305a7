#include "cli/commands/jobs/changes/pause.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/jobs/changes/change_jobs.h"
#include "cli/commands/jobs/changes/loss_warning.h"
#include "cli/grammar/option_help.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<v1::Job> Pause(const std::string& job, Context& context) {
  v1::PauseJobRequest request;
  request.set_job(job);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(v1::PauseJobResponse response, context.client.PauseJob(request));
  return std::move(*response.mutable_job());
}

absl::StatusOr<v1::Job> Resume(const std::string& job, Context& context) {
  v1::ResumeJobRequest request;
  request.set_job(job);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(v1::ResumeJobResponse response, context.client.ResumeJob(request));
  return std::move(*response.mutable_job());
}

// Prints the steps that a pause loses. On a terminal, asks for confirmation. Returns true if the
// user agrees or no confirmation is needed.
absl::StatusOr<bool> Confirmed(const PauseOptions& options, const std::vector<std::string>& jobs,
                               Context& context) {
  if (options.resume) return true;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> losses,
                             LossWarnings(EndingAction::kPause, jobs, context));
  for (const std::string& loss : losses) PrintNote(context.console, loss);
  if (losses.empty() || options.yes || !context.console.in_is_tty) return true;
  return Confirm(context.console, absl::StrCat("Pause ", absl::StrJoin(jobs, ", "), "?"));
}

void AddPauseOrResume(CLI::App& parent, bool resume, Grammar& grammar) {
  const auto options = std::make_shared<PauseOptions>();
  options->resume = resume;
  CLI::App* command =
      resume ? parent.add_subcommand("resume", "Return paused or held jobs to the queue")
             : parent.add_subcommand("pause",
                                     "Save a checkpoint and release the job's slots until "
                                     "`resume`; a job that has not started is held");
  command->add_option("job", options->jobs, kJobHelp)->required();
  if (!resume) command->add_flag("-y,--yes", options->yes, "do not ask for confirmation");
  grammar.runners[command] = [options](Context& context) { return RunPause(*options, context); };
}

}  // namespace

void AddPause(CLI::App& parent, Grammar& grammar) {
  AddPauseOrResume(parent, false, grammar);
  AddPauseOrResume(parent, true, grammar);
}

Outcome RunPause(const PauseOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ParseWholeJobs(options.jobs));
  TRAINYARD_ASSIGN_OR_RETURN(const bool confirmed, Confirmed(options, jobs, context));
  if (!confirmed) {
    PrintNote(context.console, "nothing was paused");
    return ExitCode::kFailed;
  }
  return ChangeJobs(
      jobs,
      [&](const std::string& job) {
        return options.resume ? Resume(job, context) : Pause(job, context);
      },
      context);
}

}  // namespace trainyard::cli
