#include "cli/commands/jobs/pause.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/jobs/change_jobs.h"
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

void AddPauseOrResume(CLI::App& parent, bool resume, Grammar& grammar) {
  const auto options = std::make_shared<PauseOptions>();
  options->resume = resume;
  CLI::App* command =
      resume ? parent.add_subcommand("resume", "Return paused or held jobs to the queue")
             : parent.add_subcommand("pause",
                                     "Save a checkpoint and release the job's slots until "
                                     "`resume`; a job that has not started is held");
  command->add_option("job", options->jobs, kJobHelp)->required();
  grammar.runners[command] = [options](Context& context) { return RunPause(*options, context); };
}

}  // namespace

void AddPause(CLI::App& parent, Grammar& grammar) {
  AddPauseOrResume(parent, false, grammar);
  AddPauseOrResume(parent, true, grammar);
}

Outcome RunPause(const PauseOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ParseWholeJobs(options.jobs));
  return ChangeJobs(
      jobs,
      [&](const std::string& job) {
        return options.resume ? Resume(job, context) : Pause(job, context);
      },
      context);
}

}  // namespace trainyard::cli
