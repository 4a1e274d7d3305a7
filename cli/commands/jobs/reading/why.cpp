#include "cli/commands/jobs/reading/why.h"

#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/cluster/promise_view.h"
#include "cli/output/datasets/data_progress_view.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/health_view.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/plans/estimate_view.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddWhy(CLI::App& parent, Grammar& grammar) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("why", "Explain why a job waits or ended");
  command->add_option("job", *job, kJobHelp)->required();
  grammar.runners[command] = [job](Context& context) { return RunWhy(*job, context); };
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
  for (const std::string& line : HealthLines(response.job().health(), console.Now())) {
    *console.out << "  health: " << OneLine(line) << "\n";
  }
  // The progress of an ended job is that of its last report.
  if (response.job().state() == v1::JOB_STATE_RUNNING) {
    const std::string slowest = SlowestBlockText(response.job().progress());
    if (!slowest.empty()) *console.out << "  slowest: " << slowest << "\n";
  }
  if (response.has_pending()) {
    const v1::PendingReason& pending = response.pending();
    if (pending.queue_position() > 0) {
      *console.out << "  queue position: " << pending.queue_position() << "\n";
    }
    const std::string estimate = EstimateLine(pending, console.Now());
    if (!estimate.empty()) *console.out << "  " << estimate << "\n";
    for (const std::string& line : PromiseLines(pending, console.Now())) {
      *console.out << "  promise " << OneLine(line) << "\n";
    }
    for (const v1::OtherReason& other : pending.others()) {
      *console.out << "  also: " << OneLine(other.message()) << "\n";
    }
    if (!pending.advice().empty()) *console.out << "  try: " << OneLine(pending.advice()) << "\n";
  }
  if (response.has_verdict()) *console.out << VerdictText(response.verdict(), {});
  for (const v1::RunFinding& finding : response.findings()) *console.out << FindingText(finding);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
