#include "controller/api/records/data_report.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/api/jobs/named_job.h"
#include "controller/store/metrics/metric_store.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

void AddDataSet(const LinkedDataSet& linked, v1::GetDataReportResponse& response) {
  v1::ReportedDataSet& set = *response.add_data_sets();
  set.set_path(linked.set.path);
  set.set_xxh64(linked.set.xxh64);
  set.set_tokens(linked.set.tokens);
  set.set_omitted_jobs(linked.omitted_jobs);
  set.set_is_input(linked.reads);
  for (const DataSetUser& user : linked.jobs) {
    v1::DataSetJob& job = *set.add_jobs();
    job.set_job_id(user.job_id);
    job.set_path(user.path);
  }
}

// Adds the names of archived jobs. A damaged record has no name, because the rest of the report is
// still valid.
void AddArchivedNames(JobArchive& archive, v1::GetDataReportResponse& response) {
  std::map<int64_t, std::string> names;
  for (v1::ReportedDataSet& set : *response.mutable_data_sets()) {
    for (v1::DataSetJob& job : *set.mutable_jobs()) {
      const auto [name, is_new] = names.try_emplace(job.job_id());
      if (is_new) {
        const auto found = archive.Find(job.job_id());
        if (found.ok() && found->has_value()) name->second = (*found)->job().spec().name();
      }
      job.set_name(name->second);
    }
  }
}

void AddNames(const ClusterState& state, v1::GetDataReportResponse& response) {
  for (v1::ReportedDataSet& set : *response.mutable_data_sets()) {
    for (v1::DataSetJob& job : *set.mutable_jobs()) {
      const auto found = state.jobs.find(job.job_id());
      if (found != state.jobs.end()) job.set_name(found->second.job.spec().name());
    }
  }
}

// Call on a reader thread.
absl::StatusOr<v1::GetDataReportResponse> ReadReport(const Api& api, int64_t job_id,
                                                     bool without_text) {
  TRAINYARD_ASSIGN_OR_RETURN(std::optional<StoredDataReport> report,
                             api.metrics.ReadDataReport(job_id));
  v1::GetDataReportResponse response;
  if (!report.has_value()) return response;
  if (!without_text) response.set_report(std::move(report->text));
  response.set_attempt(report->attempt);
  response.set_time_ms(report->time_ms);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<LinkedDataSet> sets,
                             api.metrics.ReadDataSets(job_id));
  for (const LinkedDataSet& linked : sets) AddDataSet(linked, response);
  AddArchivedNames(api.events.archive(), response);
  return response;
}

}  // namespace

void handlers::GetDataReport(const Api& api, const Principal& /*principal*/,
                             const v1::GetDataReportRequest& request,
                             Reply<v1::GetDataReportResponse> reply) {
  ReadJob(api, request.job(),
          [&api, without_text = request.without_report(), reply = std::move(reply)](
              const auto& entry, const ClusterView& /*view*/) {
            if (!entry.ok()) return reply(entry.status());
            const int64_t job_id = (*entry)->job.id();
            const bool queued = api.readers.TryPost([&api, reply, job_id, without_text] {
              auto read = ReadReport(api, job_id, without_text);
              if (!read.ok()) return reply(read.status());
              auto response = std::make_shared<v1::GetDataReportResponse>(*std::move(read));
              api.loop.Read([response, reply](const ClusterView& view) {
                AddNames(view.state, *response);
                response->set_revision(view.revision);
                response->set_as_of_ms(view.now);
                reply(std::move(*response));
              });
            });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
