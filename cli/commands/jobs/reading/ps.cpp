#include "cli/commands/jobs/reading/ps.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/answered_at.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The maximum number of jobs requested in one ListJobs call.
constexpr int kPageSize = 500;

absl::StatusOr<v1::JobState> ParseState(const std::string& text) {
  const auto& type = *v1::JobState_descriptor();
  if (const auto* value = EnumValueByShortName(type, text)) {
    return static_cast<v1::JobState>(value->number());
  }
  std::vector<std::string> names;
  // Start at 1, because value 0 is UNSPECIFIED.
  for (int i = 1; i < type.value_count(); ++i) names.push_back(EnumShortName(*type.value(i)));
  return absl::InvalidArgumentError(
      absl::StrCat("--state ", text, ": must be one of ", absl::StrJoin(names, ", ")));
}

// Returns a request for the jobs selected by --all or --state. By default, requests the jobs that
// have not ended.
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

// Fetches pages until the result has `limit` jobs or the controller has no further jobs. If the
// controller has none, next_cursor of the result is empty.
absl::StatusOr<v1::ListJobsResponse> ListUpTo(v1::ListJobsRequest request, int limit,
                                              Client& client) {
  v1::ListJobsResponse all;
  while (all.jobs_size() < limit) {
    request.set_limit(std::min(kPageSize, limit - all.jobs_size()));
    TRAINYARD_ASSIGN_OR_RETURN(v1::ListJobsResponse page, client.ListJobs(request));
    // A page without jobs counts as the last page even if it has a cursor, so that the loop always
    // ends.
    if (page.jobs().empty()) page.clear_next_cursor();
    all.MergeFrom(page);
    all.set_next_cursor(page.next_cursor());
    if (page.next_cursor().empty()) break;
    request.set_cursor(page.next_cursor());
  }
  return all;
}

// Explains why the list is empty and which option would list more jobs.
std::string EmptyListNote(const PsOptions& options) {
  if (!options.states.empty() || (options.all && !options.user.empty())) return "no job matches";
  if (!options.user.empty()) return "no job matches; add -a to include ended jobs";
  return options.all ? "no jobs; submit one with `trainyard submit job.yaml`"
                     : "no active jobs; `trainyard ps -a` also lists ended jobs";
}

}  // namespace

void MakeJobList(CLI::App& command, Grammar& grammar) {
  const auto options = std::make_shared<PsOptions>();
  command.add_flag("-a,--all", options->all, "include ended jobs");
  command.add_option("-u,--user", options->user, "list only jobs of this user");
  command.add_option("--state", options->states, "list only jobs in this state; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--limit", options->limit, "maximum number of jobs to list")
      ->check(CLI::Range(1, 100000));
  grammar.runners[&command] = [options](Context& context) { return RunPs(*options, context); };
}

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
    PrintNote(console, absl::StrCat("showing the newest ", options.limit,
                                    " jobs; raise --limit to see more"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
