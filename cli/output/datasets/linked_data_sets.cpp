#include "cli/output/datasets/linked_data_sets.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

// The controller does not know the name of a damaged job.
std::string JobText(const v1::DataSetJob& job) {
  const std::string number = absl::StrCat("job ", job.job_id());
  return job.name().empty() ? number : absl::StrCat(number, " ", OneLine(job.name()));
}

std::string JobsText(const v1::ReportedDataSet& set) {
  std::vector<std::string> jobs;
  for (const v1::DataSetJob& job : set.jobs()) jobs.push_back(JobText(job));
  if (set.omitted_jobs() > 0) jobs.push_back(absl::StrCat(set.omitted_jobs(), " older jobs"));
  return absl::StrJoin(jobs, ", ");
}

}  // namespace

Listing DataSetListing(const v1::GetDataReportResponse& response) {
  const bool are_inputs = response.data_sets_size() > 0 && response.data_sets(0).is_input();
  Listing listing;
  listing.columns = {{"DATA SET", false, false, true},
                     {"TOKENS", true},
                     {"CHECKSUM"},
                     {are_inputs ? "MADE BY" : "READ BY"}};
  for (const v1::ReportedDataSet& set : response.data_sets()) {
    const std::string path = OneLine(set.path());
    const std::string checksum = OneLine(set.xxh64());
    const std::string jobs = JobsText(set);
    Row row;
    row.name = path;
    row.cells = {path, CompactNumber(static_cast<double>(set.tokens())), TextOrNothing(checksum),
                 TextOrNothing(jobs)};
    row.exact_cells = {path, absl::StrCat(set.tokens()), checksum, jobs};
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

std::string ReaderLines(const v1::GetDataReportResponse& response) {
  std::string lines;
  for (const v1::ReportedDataSet& set : response.data_sets()) {
    if (set.is_input()) continue;
    for (const v1::DataSetJob& job : set.jobs()) {
      absl::StrAppend(&lines, "read by: ", JobText(job), ", as ", OneLine(job.path()), "\n");
    }
    if (set.omitted_jobs() > 0) {
      absl::StrAppend(&lines, "read by: ", set.omitted_jobs(), " older jobs\n");
    }
  }
  return lines;
}

nlohmann::json LinkedJobsJson(const v1::GetDataReportResponse& response) {
  nlohmann::json list = nlohmann::json::array();
  for (const v1::ReportedDataSet& set : response.data_sets()) {
    for (const v1::DataSetJob& job : set.jobs()) {
      list.push_back({{"job", job.job_id()},
                      {"name", job.name()},
                      {"path", job.path()},
                      {"xxh64", set.xxh64()}});
    }
  }
  return list;
}

}  // namespace trainyard::cli
