#include "cli/commands/jobs/reading/report.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/health_view.h"
#include "cli/output/jobs/loss_curve_view.h"
#include "cli/output/jobs/report_view.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns an empty response after a failure, so that the loss curve is still shown.
v1::GetExpertsResponse ExpertsOf(const std::string& job, Context& context) {
  v1::GetExpertsRequest request;
  request.set_job(job);
  return context.client.GetExperts(request).value_or(v1::GetExpertsResponse());
}

Outcome ReportLossCurve(const std::string& job, Context& context) {
  v1::GetLossReportRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetLossReportResponse report,
                             context.client.GetLossReport(request));
  if (!report.has_curve()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, " has reported ", report.losses(),
                     " losses, but the report needs at least ", report.losses_needed()));
  }
  Console& console = context.console;
  const v1::GetExpertsResponse experts = ExpertsOf(request.job(), context);
  if (IsTable(context.format)) {
    *console.out << LossCurveText(report.curve());
    for (const v1::RunFinding& finding : experts.findings()) *console.out << FindingText(finding);
    return ExitCode::kOk;
  }
  nlohmann::json document = StableJson(report.curve());
  for (const v1::RunFinding& finding : experts.findings()) {
    document["findings"].push_back(StableJson(finding));
  }
  PrintDocument(document, job, context.format, console);
  return ExitCode::kOk;
}

absl::StatusOr<v1::ReportBy> ParseBy(const std::string& by) {
  for (const v1::ReportBy value :
       {v1::REPORT_BY_CLUSTER, v1::REPORT_BY_USER, v1::REPORT_BY_JOB, v1::REPORT_BY_WEEK}) {
    if (by == EnumText(value)) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--by ", by, ": must be cluster, user, job or week"));
}

absl::StatusOr<int64_t> NumberOf(const std::string& job, Context& context) {
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse found, context.client.GetJob(request));
  return found.job().id();
}

Outcome ReportLedger(const ReportOptions& options, Context& context) {
  v1::GetReportRequest request;
  if (!options.job.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, NumberOf(options.job, context));
    request.set_job_id(job_id);
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ReportBy by, ParseBy(options.by));
  request.set_by(by);
  request.set_user(options.user);
  request.set_limit(options.limit);
  if (!options.since.empty()) {
    const int64_t ago_ms = ParseDurationText(options.since);
    if (ago_ms <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--since ", options.since, ": must be a duration, such as 7d or 36h"));
    }
    request.set_since_ms(std::max<int64_t>(1, context.console.Now() - ago_ms));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetReportResponse response,
                             context.client.GetReport(request));
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    PrintDocument(StableJson(response), options.by, context.format, context.console);
    return ExitCode::kOk;
  }
  PrintListing(ReportListing(response), context.format, context.console);
  if (IsTable(context.format)) {
    PrintNote(
        context.console,
        absl::StrCat("from ", IsoTime(response.since_ms()), " to ", IsoTime(response.until_ms()),
                     ". Each phase is a share of the slot time. -o wide shows all phases"));
  }
  return ExitCode::kOk;
}

}  // namespace

void AddReport(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = parent.add_subcommand(
      "report", "Assess the loss curve of one job; with --by, summarize how jobs used their slots");
  command->add_option("job", options->job, kJobHelp);
  command->add_option("--by", options->by, "group slot time by cluster, user, job or week")
      ->check(CLI::IsMember({"cluster", "user", "job", "week"}));
  command->add_option("--since", options->since,
                      "length of the period that ends now, such as 7d (default: all time)");
  command->add_option("--user", options->user, "count only jobs of this user");
  command
      ->add_option("--limit", options->limit,
                   "maximum number of groups (default: 100). If there are more groups, the last "
                   "row is the sum of the rest")
      ->check(CLI::Range(1, 1000));
  grammar.runners[command] = [options](Context& context) { return RunReport(*options, context); };
}

Outcome RunReport(const ReportOptions& options, Context& context) {
  const bool has_filter = !options.since.empty() || !options.user.empty() || options.limit != 0;
  if (options.by.empty() && !options.job.empty() && !has_filter) {
    return ReportLossCurve(options.job, context);
  }
  if (!options.by.empty()) return ReportLedger(options, context);
  return absl::InvalidArgumentError(
      "name a job to see its loss curve, or pass --by user, job, week or cluster. --since, --user "
      "and --limit require --by");
}

}  // namespace trainyard::cli
