#include "cli/commands/jobs/reading/describe.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/jobs/lineage_view.h"
#include "cli/output/terminal/answered_at.h"
#include "cli/output/terminal/freshness.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns the response as a document for scripts. If `attempt` is not 0, the document contains only
// that attempt.
nlohmann::json DescribeDocument(const v1::GetJobResponse& response, int64_t attempt,
                                Timestamp now) {
  v1::GetJobResponse shown = response;
  *shown.mutable_job() = WithoutOldRate(response.job(), now);
  if (attempt != 0) {
    shown.mutable_job()->clear_attempts();
    for (const v1::Attempt& each : response.job().attempts()) {
      if (each.number() == attempt) *shown.mutable_job()->add_attempts() = each;
    }
  }
  return StableJson(shown);
}

// Returns OK if `number` is 0 or the job has this attempt. A job keeps only its newest attempts.
absl::Status CheckAttempt(const v1::Job& job, int64_t number) {
  if (number == 0) return absl::OkStatus();
  if (std::ranges::find(job.attempts(), number, &v1::Attempt::number) != job.attempts().end()) {
    return absl::OkStatus();
  }
  const std::string unknown = absl::StrCat("job ", job.id(), " has no attempt ", number);
  const v1::Attempt* newest = NewestAttempt(job);
  if (newest == nullptr)
    return absl::NotFoundError(absl::StrCat(unknown, "; the job has no attempts"));
  const int64_t oldest = job.attempts(0).number();
  if (number < oldest) {
    return absl::NotFoundError(absl::StrCat("attempt ", number, " of job ", job.id(),
                                            " is no longer stored; the oldest stored attempt is ",
                                            oldest));
  }
  return absl::NotFoundError(absl::StrCat(unknown, "; the newest attempt is ", newest->number()));
}

// Returns an empty lineage if the job has no relatives. After a failure, also returns an empty
// lineage, so that the job is still shown.
v1::GetLineageResponse LineageOf(const v1::Job& job, Context& context) {
  if (!HasRelatives(job)) return {};
  v1::GetLineageRequest request;
  request.set_job(absl::StrCat(job.id()));
  return context.client.GetLineage(request).value_or(v1::GetLineageResponse());
}

// Returns the data sets that the job makes or trains on. After a failure, returns none, so that the
// job is still shown.
v1::GetDataReportResponse DataSetsOf(const v1::Job& job, Context& context) {
  if (ProgramOf(job.spec()) == JobProgram::kCommand) return {};
  v1::GetDataReportRequest request;
  request.set_job(absl::StrCat(job.id()));
  request.set_without_report(true);
  return context.client.GetDataReport(request).value_or(v1::GetDataReportResponse());
}

}  // namespace

void AddDescribe(CLI::App& parent, Grammar& grammar) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand(
      "describe", "Show a job's state, attempts, checkpoints, settings and events");
  command->add_option("job", *job, kJobOrAttemptHelp)->required();
  grammar.runners[command] = [job](Context& context) { return RunDescribe(*job, context); };
}

Outcome RunDescribe(const std::string& job, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(job));
  v1::GetJobRequest request;
  request.set_job(reference.job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  TRAINYARD_RETURN_IF_ERROR(CheckAttempt(response.job(), reference.attempt));
  Console& console = context.console;
  const Timestamp now = AnsweredAt(response, console);
  if (IsTable(context.format)) {
    const DescribeOptions options{reference.attempt, context.format == OutputFormat::kWide,
                                  LineageOf(response.job(), context),
                                  DataSetsOf(response.job(), context)};
    *console.out << DescribeText(response, options, now);
  } else {
    PrintDocument(DescribeDocument(response, reference.attempt, now),
                  absl::StrCat(response.job().id()), context.format, console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
