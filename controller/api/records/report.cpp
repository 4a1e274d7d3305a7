#include "controller/api/records/report.h"

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "controller/core/explain/report.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/ledger/ledger_part.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/nodes/capacity.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The part of the state that a report needs. Copied on the loop thread and summed on a reader
// thread.
struct Source {
  v1::GetReportRequest request;
  // Jobs, with only the fields from which a ledger is computed.
  std::vector<v1::Job> jobs;
  v1::CapacityHistory capacity;
  GpuPrice price;
  uint64_t revision = 0;
  Timestamp now = 0;
};

v1::Job CopyOf(const v1::Job& job, const ClusterView& view) {
  v1::Job copy = LedgerPart(job);
  if (!HasEnded(job.state())) MergeObserved(job, view.observations, view.now, copy);
  return copy;
}

// Call on the loop thread.
void CopyState(const ClusterView& view, Source& source) {
  source.now = view.now;
  source.revision = view.revision;
  source.capacity = CapacityUntil(view.state, view.now);
  source.price = view.options.gpu_price;
  for (const auto& [id, entry] : view.state.jobs) {
    const Timestamp end = entry.job.ended_time_ms();
    if (end != 0 && end < source.request.since_ms()) continue;
    if (!source.request.user().empty() && entry.job.user() != source.request.user()) continue;
    if (source.request.job_id() != 0 && id != source.request.job_id()) continue;
    source.jobs.push_back(CopyOf(entry.job, view));
  }
}

v1::GetReportResponse Answer(Report& report, const Source& source) {
  v1::GetReportResponse response = report.Take();
  response.set_revision(source.revision);
  response.set_as_of_ms(source.now);
  return response;
}

// Call on a reader thread. Reads the archive only if the request may concern archived jobs.
absl::StatusOr<v1::GetReportResponse> MakeReport(JobArchive& archive, const Source& source) {
  Report report(source.request, source.capacity, source.now, source.price);
  std::unordered_set<int64_t> added;
  for (const v1::Job& job : source.jobs) {
    report.Add(JobTimeOf(job, source.now));
    added.insert(job.id());
  }
  const bool is_complete = source.request.job_id() != 0 && !added.empty();
  if (is_complete) return Answer(report, source);
  // A job may have moved to the archive after the state was copied.
  TRAINYARD_RETURN_IF_ERROR(archive.ForEachTime(report.since_ms(), [&](const v1::JobTime& time) {
    if (!added.contains(time.job_id())) report.Add(time);
  }));
  return Answer(report, source);
}

}  // namespace

void handlers::GetReport(const Api& api, const Principal& /*principal*/,
                         v1::GetReportRequest request, Reply<v1::GetReportResponse> reply) {
  api.loop.Read([&api, request = std::move(request),
                 reply = std::move(reply)](const ClusterView& view) mutable {
    const absl::Status status = CheckReportRequest(request, view.now);
    if (!status.ok()) return reply(status);
    auto source = std::make_shared<Source>();
    source->request = std::move(request);
    CopyState(view, *source);
    JobArchive& archive = api.events.archive();
    const bool queued =
        api.readers.TryPost([&archive, source, reply] { reply(MakeReport(archive, *source)); });
    if (!queued) reply(ReaderPool::Busy());
  });
}

}  // namespace trainyard::controller
