// `trainyard stop` and `trainyard kill`.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/commands.h"
#include "cli/job_reference.h"
#include "cli/output/job_views.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// True when the user agrees or need not be asked. An error when there is no terminal to ask on.
absl::StatusOr<bool> Agreed(const StopOptions& options, const std::vector<std::string>& jobs,
                            Console& console) {
  // A stop, unlike a kill, lets a job save a checkpoint first.
  const bool harmless = !options.kill && jobs.size() == 1;
  if (harmless || options.yes) return true;
  const std::string list = absl::StrJoin(jobs, ", ");
  if (!console.in_is_tty) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.kill ? "kill" : "stop", " of ", list,
        " needs a yes, and there is no terminal to ask on\nadd -y if that is what you want"));
  }
  const std::string what = options.kill ? absl::StrCat("Kill ", list, " now, without a checkpoint?")
                                        : absl::StrCat("Stop ", jobs.size(), " jobs (", list, ")?");
  return Confirm(console, what);
}

void PrintStopped(const v1::Job& job, Context& context) {
  if (context.format == OutputFormat::kJson) {
    // Indent -1 is compact: one object a line, since several jobs may be printed.
    *context.console.out << DumpJson(JobDocument(job, context.console.Now()), -1) << "\n";
  } else if (context.format == OutputFormat::kTable || context.format == OutputFormat::kWide) {
    *context.console.out << "job " << job.id() << " " << job.name() << " " << EnumText(job.state())
                         << "\n";
  } else {
    PrintDocument(JobDocument(job, context.console.Now()), absl::StrCat(job.id()), context.format,
                  context.console);
  }
}

}  // namespace

Outcome RunStop(const StopOptions& options, Context& context) {
  // All references are parsed before the first request: a mistyped one stops nothing.
  std::vector<std::string> jobs;
  for (const std::string& text : options.jobs) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string job, ParseWholeJob(text));
    jobs.push_back(std::move(job));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const bool agreed, Agreed(options, jobs, context.console));
  if (!agreed) {
    PrintNote(context.console, "nothing was stopped");
    return ExitCode::kFailed;
  }
  // After an error the other jobs are still tried, unless the controller is unreachable. The first
  // error decides the exit code.
  ExitCode code = ExitCode::kOk;
  for (const std::string& job : jobs) {
    v1::StopJobRequest request;
    request.set_job(job);
    request.set_kill(options.kill);
    request.set_user(context.environment.user);
    const absl::StatusOr<v1::StopJobResponse> response = context.client.StopJob(request);
    if (response.ok()) {
      PrintStopped(response->job(), context);
      continue;
    }
    PrintError(context.console, std::string(response.status().message()));
    const ExitCode failure = ExitCodeOf(response.status());
    if (code == ExitCode::kOk) code = failure;
    if (failure == ExitCode::kUnreachable) return code;
  }
  return code;
}

}  // namespace trainyard::cli
