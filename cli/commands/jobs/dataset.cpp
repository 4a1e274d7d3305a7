#include "cli/commands/jobs/dataset.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/client/job_reference.h"
#include "cli/commands/jobs/data_links.h"
#include "cli/grammar/option_help.h"
#include "cli/output/dataset_view.h"
#include "cli/output/readable.h"
#include "cli/output/table.h"
#include "nlohmann/json.hpp"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

std::string JobText(const LinkedJob& job) {
  return absl::StrCat("job ", job.id, " ", OneLine(job.name));
}

// One row per data set that a training job reads.
Listing DataUseListing(const std::vector<ReportedDataSet>& sets,
                       const std::vector<LinkedJob>& makers) {
  Listing listing;
  listing.columns = {{"DATA SET", false, false, true}, {"TOKENS", true}, {"CHECKSUM"}, {"MADE BY"}};
  for (const ReportedDataSet& set : sets) {
    std::vector<std::string> jobs;
    for (const LinkedJob& job : makers) {
      if (job.data_set.xxh64 == set.xxh64) jobs.push_back(JobText(job));
    }
    const std::string path = OneLine(set.path);
    const std::string made_by = absl::StrJoin(jobs, ", ");
    Row row;
    row.name = path;
    row.cells = {path, CompactNumber(static_cast<double>(set.tokens)),
                 TextOrNothing(OneLine(set.xxh64)), TextOrNothing(made_by)};
    row.exact_cells = {path, absl::StrCat(set.tokens), OneLine(set.xxh64), made_by};
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

nlohmann::json LinksJson(const std::vector<LinkedJob>& linked) {
  nlohmann::json list = nlohmann::json::array();
  for (const LinkedJob& job : linked) {
    list.push_back({{"job", job.id},
                    {"name", job.name},
                    {"path", job.data_set.path},
                    {"xxh64", job.data_set.xxh64}});
  }
  return list;
}

void PrintDatasetNotes(const nlohmann::json& report, const std::vector<LinkedJob>& readers,
                       Console& console) {
  for (const std::string& problem : DatasetProblems(report)) {
    *console.out << "problem: " << OneLine(problem) << "\n";
  }
  for (const LinkedJob& job : readers) {
    *console.out << "read by: " << JobText(job) << ", as " << OneLine(job.data_set.path) << "\n";
  }
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
  const std::vector<ReportedDataSet> sets = DataSetsOf(report);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<LinkedJob> linked,
                             FindLinkedJobs(sets, /*makers=*/is_use, context.client));
  Console& console = context.console;
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    nlohmann::json document = report;
    if (!linked.empty()) document["linked_jobs"] = LinksJson(linked);
    PrintDocument(document, job, context.format, console);
    return ExitCode::kOk;
  }
  PrintListing(is_use ? DataUseListing(sets, linked) : DatasetListing(report), context.format,
               console);
  if (IsTable(context.format) && !is_use) PrintDatasetNotes(report, linked, console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
