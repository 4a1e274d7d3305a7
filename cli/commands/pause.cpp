// `trainyard pause` and `trainyard resume`.
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/change_jobs.h"
#include "cli/commands/commands.h"
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

}  // namespace

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
