#include "cli/commands/jobs/reading/dataset.h"

#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/datasets/dataset_view.h"
#include "cli/output/datasets/linked_data_sets.h"
#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "nlohmann/json.hpp"
#include "proto/contract/data_report.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// True for the report of a training job.
bool IsDataUse(const nlohmann::json& report) {
  const auto format = report.find(kReportFormat);
  return format != report.end() && *format == kDataUseFormat;
}

void PrintDatasetNotes(const nlohmann::json& report, const v1::GetDataReportResponse& response,
                       Console& console) {
  for (const std::string& problem : DatasetProblems(report)) {
    *console.out << "problem: " << OneLine(problem) << "\n";
  }
  *console.out << ReaderLines(response);
}

}  // namespace

void AddDataset(CLI::App& parent, Grammar& grammar) {
  const auto job = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand(
      "dataset", "Show the data set that a data job makes, or the data sets that a job trains on");
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
                     " has sent no report of a data set; data jobs send reports after steps of "
                     "their pipelines, and training jobs without a `command` when they start"));
  }
  const auto report = nlohmann::json::parse(response.report(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    return absl::DataLossError(
        absl::StrCat("the report of job ", job,
                     " is not a JSON object; run `trainyard data report` on the "
                     "output directory instead"));
  }
  const bool is_use = IsDataUse(report);
  Console& console = context.console;
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    nlohmann::json document = report;
    const nlohmann::json linked = LinkedJobsJson(response);
    if (!linked.empty()) document["linked_jobs"] = linked;
    PrintDocument(document, job, context.format, console);
    return ExitCode::kOk;
  }
  PrintListing(is_use ? DataSetListing(response) : DatasetListing(report), context.format, console);
  if (IsTable(context.format) && !is_use) PrintDatasetNotes(report, response, console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
