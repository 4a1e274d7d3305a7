#include "cli/commands/jobs/changes/change_jobs.h"

#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/output/jobs/job_views.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

void PrintChanged(const v1::Job& job, Context& context) {
  if (context.format == OutputFormat::kJson) {
    // Indent -1 prints each object on one line, because there may be several jobs.
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

absl::StatusOr<std::vector<std::string>> ParseWholeJobs(const std::vector<std::string>& texts) {
  std::vector<std::string> jobs;
  for (const std::string& text : texts) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string job, ParseWholeJob(text));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

ExitCode ForEachJob(const std::vector<std::string>& jobs,
                    const std::function<absl::Status(const std::string& job)>& request,
                    Context& context) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& job : jobs) {
    const absl::Status status = request(job);
    if (status.ok()) continue;
    PrintError(context.console, std::string(status.message()));
    const ExitCode failure = ExitCodeOf(status);
    if (code == ExitCode::kOk) code = failure;
    if (failure == ExitCode::kUnreachable) return code;
  }
  return code;
}

Outcome ChangeJobs(const std::vector<std::string>& jobs,
                   const std::function<absl::StatusOr<v1::Job>(const std::string& job)>& change,
                   Context& context) {
  return ForEachJob(
      jobs,
      [&](const std::string& job) -> absl::Status {
        TRAINYARD_ASSIGN_OR_RETURN(const v1::Job changed, change(job));
        PrintChanged(changed, context);
        return absl::OkStatus();
      },
      context);
}

}  // namespace trainyard::cli
