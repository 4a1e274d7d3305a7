#include "cli/commands/jobs/stop.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/jobs/change_jobs.h"
#include "cli/grammar/option_help.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// True if the user agrees or no confirmation is needed. Returns an error if a question is needed
// but there is no terminal.
absl::StatusOr<bool> Confirmed(const StopOptions& options, const std::vector<std::string>& jobs,
                               Console& console) {
  // Unlike a kill, a stop lets the job save a checkpoint first.
  const bool harmless = !options.kill && jobs.size() == 1;
  if (harmless || options.yes) return true;
  const std::string list = absl::StrJoin(jobs, ", ");
  if (!console.in_is_tty) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.kill ? "kill" : "stop", " of ", list,
        " needs confirmation, but standard input is not a terminal\nadd -y to confirm"));
  }
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
  TRAINYARD_ASSIGN_OR_RETURN(const bool confirmed, Confirmed(options, jobs, context.console));
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
