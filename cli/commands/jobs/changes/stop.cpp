#include "cli/commands/jobs/changes/stop.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/jobs/changes/change_jobs.h"
#include "cli/commands/jobs/changes/loss_warning.h"
#include "cli/grammar/option_help.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// True if the user agrees or no confirmation is needed. A script that stops a single job gets a
// warning instead of a question. In all other cases without a terminal, returns an error if a
// question is needed.
absl::StatusOr<bool> Confirmed(const StopOptions& options, const std::vector<std::string>& jobs,
                               bool loses_steps, Console& console) {
  // A stop lets the job save a checkpoint first, so a stop of one job is harmless unless steps are
  // lost. A kill is never harmless.
  const bool one_stop = !options.kill && jobs.size() == 1;
  const bool harmless = one_stop && (!loses_steps || !console.in_is_tty);
  if (harmless || options.yes) return true;
  const std::string list = absl::StrJoin(jobs, ", ");
  if (!console.in_is_tty) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.kill ? "kill" : "stop", " of ", list,
        " needs confirmation, but standard input is not a terminal\nadd -y to confirm"));
  }
  if (one_stop) return Confirm(console, absl::StrCat("Stop ", list, "?"));
  const std::string what = options.kill ? absl::StrCat("Kill ", list, " now, without a checkpoint?")
                                        : absl::StrCat("Stop ", jobs.size(), " jobs (", list, ")?");
  return Confirm(console, what);
}

void AddStopOrKill(CLI::App& parent, bool kill, Grammar& grammar) {
  const auto options = std::make_shared<StopOptions>();
  options->kill = kill;
  CLI::App* command =
      kill ? parent.add_subcommand("kill", "Stop jobs immediately, without a checkpoint")
           : parent.add_subcommand("stop", "Save a checkpoint, then stop");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("-y,--yes", options->yes, "do not ask for confirmation");
  grammar.runners[command] = [options](Context& context) { return RunStop(*options, context); };
}

}  // namespace

void AddStop(CLI::App& parent, Grammar& grammar) {
  AddStopOrKill(parent, false, grammar);
  AddStopOrKill(parent, true, grammar);
}

Outcome RunStop(const StopOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ParseWholeJobs(options.jobs));
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::vector<std::string> losses,
      LossWarnings(options.kill ? EndingAction::kKill : EndingAction::kStop, jobs, context));
  for (const std::string& loss : losses) PrintNote(context.console, loss);
  TRAINYARD_ASSIGN_OR_RETURN(const bool confirmed,
                             Confirmed(options, jobs, !losses.empty(), context.console));
  if (!confirmed) {
    PrintNote(context.console, "nothing was stopped");
    return ExitCode::kFailed;
  }
  return ChangeJobs(
      jobs,
      [&](const std::string& job) -> absl::StatusOr<v1::Job> {
        v1::StopJobRequest request;
        request.set_job(job);
        request.set_kill(options.kill);
        request.set_user(context.environment.user);
        TRAINYARD_ASSIGN_OR_RETURN(v1::StopJobResponse response, context.client.StopJob(request));
        return std::move(*response.mutable_job());
      },
      context);
}

}  // namespace trainyard::cli
