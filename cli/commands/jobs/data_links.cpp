#include "cli/commands/jobs/data_links.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "proto/contract/data_report.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

using nlohmann::json;

std::string TextIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The job may have been deleted since it was listed. Then it has no data sets.
absl::StatusOr<std::vector<ReportedDataSet>> DataSetsOfJob(int64_t id, Client& client) {
  v1::GetDataReportRequest request;
  request.set_job(absl::StrCat(id));
  const absl::StatusOr<v1::GetDataReportResponse> response = client.GetDataReport(request);
  if (absl::IsNotFound(response.status())) return std::vector<ReportedDataSet>();
  TRAINYARD_RETURN_IF_ERROR(response.status());
  return DataSetsOf(json::parse(response->report(), nullptr, /*allow_exceptions=*/false));
}

}  // namespace

std::vector<ReportedDataSet> DataSetsOf(const json& report) {
  std::vector<ReportedDataSet> sets;
  if (!report.is_object() || !report.contains(kReportDataSets)) return sets;
  for (const json& entry : report[kReportDataSets]) {
    if (!entry.is_object()) continue;
    const auto tokens = entry.find(kReportTokens);
    const bool has_tokens = tokens != entry.end() && tokens->is_number_integer();
    sets.push_back({TextIn(entry, kReportPath), TextIn(entry, kReportChecksum),
                    has_tokens ? tokens->get<int64_t>() : 0});
  }
  return sets;
}

bool IsDataUse(const json& report) {
  return report.is_object() && TextIn(report, "format") == kDataUseFormat;
}

absl::StatusOr<std::vector<LinkedJob>> FindLinkedJobs(const std::vector<ReportedDataSet>& sets,
                                                      bool makers, Client& client) {
  std::vector<LinkedJob> linked;
  std::set<std::string> wanted;
  for (const ReportedDataSet& set : sets) {
    if (!set.xxh64.empty()) wanted.insert(set.xxh64);
  }
  if (wanted.empty()) return linked;
  v1::ListJobsRequest request;
  request.set_limit(kListedJobsMax);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListJobsResponse jobs, client.ListJobs(request));
  int left = makers ? kDataJobsMax : kTrainingJobsMax;
  for (const v1::Job& job : jobs.jobs()) {
    if (ProgramOf(job.spec()) != (makers ? JobProgram::kData : JobProgram::kTrainer)) continue;
    if (left-- == 0) break;
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<ReportedDataSet> found,
                               DataSetsOfJob(job.id(), client));
    for (const ReportedDataSet& set : found) {
      if (wanted.contains(set.xxh64)) linked.push_back({job.id(), job.spec().name(), set});
    }
  }
  return linked;
}

}  // namespace trainyard::cli
