#include "controller/api/data_report.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "controller/api/named_job.h"
#include "controller/store/metrics/metric_store.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Call on a reader thread.
absl::StatusOr<v1::GetDataReportResponse> ReadReport(MetricStore& metrics, int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(std::optional<StoredDataReport> report,
                             metrics.ReadDataReport(job_id));
  v1::GetDataReportResponse response;
  if (!report.has_value()) return response;
  response.set_report(std::move(report->text));
  response.set_attempt(report->attempt);
  response.set_time_ms(report->time_ms);
  return response;
}

}  // namespace

void handlers::GetDataReport(const Api& api, const Principal& /*principal*/,
                             const v1::GetDataReportRequest& request,
                             Reply<v1::GetDataReportResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            const bool queued = api.readers.TryPost([&api, reply, job_id = (*entry)->job.id(),
                                                     now = view.now, revision = view.revision] {
              auto response = ReadReport(api.metrics, job_id);
              if (response.ok()) {
                response->set_revision(revision);
                response->set_as_of_ms(now);
              }
              reply(std::move(response));
            });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
