#include "cli/commands/jobs/dataset.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/dataset_view.h"
#include "cli/output/readable.h"
#include "cli/output/table.h"
#include "nlohmann/json.hpp"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddDataset(CLI::App& parent, Grammar& grammar) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand(
      "dataset", "Show the steps, drops and tokens of the data set that a data job makes");
  command->add_option("job", *job, kJobHelp)->required();
  grammar.runners[command] = [job](Context& context) { return RunDataset(*job, context); };
}

Outcome RunDataset(const std::string& job, Context& context) {
  v1::GetDataReportRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(job));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetDataReportResponse response,
                             context.client.GetDataReport(request));
  if (response.report().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job,
                     " has sent no report of a data set; only data jobs send reports, after steps "
                     "of their pipelines"));
  }
  const auto report = nlohmann::json::parse(response.report(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    return absl::DataLossError(
        absl::StrCat("the report of job ", job,
                     " is not a JSON object; run `trainyard data report` on the "
                     "output directory instead"));
  }
  Console& console = context.console;
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    PrintDocument(report, job, context.format, console);
    return ExitCode::kOk;
  }
  PrintListing(DatasetListing(report), context.format, console);
  if (!IsTable(context.format)) return ExitCode::kOk;
  for (const std::string& problem : DatasetProblems(report)) {
    *console.out << "problem: " << OneLine(problem) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
