#include "cli/commands/jobs/reading/wait.h"

#include <memory>

#include "cli/commands/jobs/changes/change_jobs.h"
#include "cli/commands/jobs/reading/follow.h"
#include "cli/grammar/option_help.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddWait(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<WaitOptions>();
  CLI::App* command = parent.add_subcommand(
      "wait", "Wait until jobs end; exit 5 if a job did not succeed, 8 if its time limit ended it");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("-f,--follow", options->progress, "show progress");
  command->add_option("--timeout", options->timeout, "maximum time to wait, such as 30m");
  grammar.runners[command] = [options](Context& context) { return RunWait(*options, context); };
}

Outcome RunWait(const WaitOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto deadline, DeadlineFrom(options.timeout));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ParseWholeJobs(options.jobs));
  ExitCode worst = ExitCode::kOk;
  for (const std::string& job : jobs) {
    TRAINYARD_ASSIGN_OR_RETURN(const ExitCode code,
                               FollowJob({job, options.progress, deadline}, context));
    if (code == ExitCode::kInterrupted || code == ExitCode::kTimeout) return code;
    if (code != ExitCode::kOk) worst = code;
  }
  return worst;
}

}  // namespace trainyard::cli
