// The commands ps, describe, why and ckpt list.
#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/client/job_reference.h"
#include "cli/commands/commands.h"
#include "cli/output/answered_at.h"
#include "cli/output/freshness.h"
#include "cli/output/job_views.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/jobspec/schema.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Jobs requested in one ListJobs call.
constexpr int kPageSize = 500;

absl::StatusOr<v1::JobState> ParseState(const std::string& text) {
  const auto& type = *v1::JobState_descriptor();
  if (const auto* value = EnumValueByShortName(type, text)) {
    return static_cast<v1::JobState>(value->number());
  }
  std::vector<std::string> names;
  // Value 0 is UNSPECIFIED.
  for (int i = 1; i < type.value_count(); ++i) names.push_back(EnumShortName(*type.value(i)));
  return absl::InvalidArgumentError(
      absl::StrCat("--state ", text, ": must be one of ", absl::StrJoin(names, ", ")));
}

// Requests jobs that have not ended, unless --all or --state is given.
absl::StatusOr<v1::ListJobsRequest> MakeListRequest(const PsOptions& options) {
  v1::ListJobsRequest request;
  request.set_user(options.user);
  for (const std::string& text : options.states) {
    TRAINYARD_ASSIGN_OR_RETURN(const v1::JobState state, ParseState(text));
    request.add_states(state);
  }
  if (options.all || !options.states.empty()) return request;
  for (int i = v1::JobState_MIN + 1; i <= v1::JobState_MAX; ++i) {
    if (!HasEnded(static_cast<v1::JobState>(i))) request.add_states(static_cast<v1::JobState>(i));
  }
  return request;
}

// Fetches pages until there are `limit` jobs. The result's next_cursor is empty unless the
// controller has more.
absl::StatusOr<v1::ListJobsResponse> ListUpTo(v1::ListJobsRequest request, int limit,
                                              Client& client) {
  v1::ListJobsResponse all;
  while (all.jobs_size() < limit) {
    request.set_limit(std::min(kPageSize, limit - all.jobs_size()));
    TRAINYARD_ASSIGN_OR_RETURN(v1::ListJobsResponse page, client.ListJobs(request));
    // A page without jobs is the last one, so that the loop ends regardless of its cursor.
    if (page.jobs().empty()) page.clear_next_cursor();
    all.MergeFrom(page);
    all.set_next_cursor(page.next_cursor());
    if (page.next_cursor().empty()) break;
    request.set_cursor(page.next_cursor());
  }
  return all;
}

// Explains why a list is empty and how to get a longer one.
std::string EmptyListNote(const PsOptions& options) {
  if (!options.states.empty() || (options.all && !options.user.empty())) return "no job matches";
  if (!options.user.empty()) return "no job matches; -a also looks at those that have ended";
  return options.all ? "no jobs; `trainyard submit job.yaml` makes one"
                     : "no live jobs; `trainyard ps -a` lists those that have ended";
}

// The response for programs, with only the given attempt unless `attempt` is 0.
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

// OK if the job has the attempt, or if none is given. A job keeps only its newest attempts.
absl::Status CheckAttempt(const v1::Job& job, int64_t number) {
  if (number == 0) return absl::OkStatus();
  if (std::ranges::find(job.attempts(), number, &v1::Attempt::number) != job.attempts().end()) {
    return absl::OkStatus();
  }
  const std::string unknown = absl::StrCat("job ", job.id(), " has no attempt ", number);
  const v1::Attempt* newest = NewestAttempt(job);
  if (newest == nullptr) return absl::NotFoundError(absl::StrCat(unknown, "; it has had none"));
  const int64_t oldest = job.attempts(0).number();
  if (number < oldest) {
    return absl::NotFoundError(absl::StrCat("attempt ", number, " of job ", job.id(),
                                            " is no longer kept; the oldest kept is ", oldest));
  }
  return absl::NotFoundError(absl::StrCat(unknown, "; its newest is ", newest->number()));
}

absl::StatusOr<v1::GetJobResponse> GetJob(const std::string& job, Client& client) {
  v1::GetJobRequest request;
  request.set_job(job);
  return client.GetJob(request);
}

}  // namespace

Outcome RunPs(const PsOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListJobsRequest request, MakeListRequest(options));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListJobsResponse response,
                             ListUpTo(request, options.limit, context.client));
  Console& console = context.console;
  PrintListing(JobListing(response, AnsweredAt(response, console)), context.format, console);
  if (response.jobs().empty() && IsTable(context.format)) {
    PrintNote(console, EmptyListNote(options));
  }
  if (!response.next_cursor().empty()) {
    PrintNote(console,
              absl::StrCat("only the newest ", options.limit, " are shown; --limit shows more"));
  }
  return ExitCode::kOk;
}

Outcome RunDescribe(const std::string& job, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response,
                             GetJob(reference.job, context.client));
  TRAINYARD_RETURN_IF_ERROR(CheckAttempt(response.job(), reference.attempt));
  Console& console = context.console;
  const Timestamp now = AnsweredAt(response, console);
  if (IsTable(context.format)) {
    const DescribeOptions options{reference.attempt, context.format == OutputFormat::kWide};
    *console.out << DescribeText(response, options, now);
  } else {
    PrintDocument(DescribeDocument(response, reference.attempt, now),
                  absl::StrCat(response.job().id()), context.format, console);
  }
  return ExitCode::kOk;
}

Outcome RunWhy(const std::string& job, Context& context) {
  v1::WhyJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::WhyJobResponse response, context.client.WhyJob(request));
  Console& console = context.console;
  if (!IsTable(context.format)) {
    nlohmann::json document = StableJson(response);
    document["job"] = JobDocument(response.job(), console.Now());
    PrintDocument(document, absl::StrCat(response.job().id()), context.format, console);
    return ExitCode::kOk;
  }
  *console.out << OneLine(response.answer()) << "\n";
  if (response.has_pending()) {
    const v1::PendingReason& pending = response.pending();
    if (pending.queue_position() > 0) {
      *console.out << "  place in the queue: " << pending.queue_position() << "\n";
    }
    if (!pending.advice().empty()) *console.out << "  try: " << OneLine(pending.advice()) << "\n";
  }
  if (response.has_verdict()) *console.out << VerdictText(response.verdict(), {});
  for (const v1::RunFinding& finding : response.findings()) {
    *console.out << "  advice: " << OneLine(finding.what()) << " (" << OneLine(finding.why())
                 << ")\n    try: " << OneLine(finding.change()) << "\n";
  }
  return ExitCode::kOk;
}

Outcome RunCheckpointList(const CheckpointListOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string job, ParseWholeJob(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, GetJob(job, context.client));
  Console& console = context.console;
  const Listing listing =
      CheckpointListing(response.job(), options.all, AnsweredAt(response, console));
  PrintListing(listing, context.format, console);
  if (listing.rows.empty() && IsTable(context.format)) {
    PrintNote(console, absl::StrCat("job ", response.job().id(), " has published no checkpoint"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
