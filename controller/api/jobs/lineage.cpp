#include "controller/api/jobs/lineage.h"

#include <memory>
#include <optional>
#include <utility>

#include "controller/api/jobs/named_job.h"
#include "controller/core/explain/lineage.h"

namespace trainyard::controller {
namespace {

// A job whose record is damaged is shown like a deleted job, because the rest of the lineage is
// still valid. Call on a reader thread.
std::optional<LineageNode> FindArchivedJob(JobArchive& archive, int64_t job_id) {
  const auto found = archive.Find(job_id);
  if (!found.ok() || !found->has_value()) return std::nullopt;
  return NodeOf((*found)->job());
}

}  // namespace

void handlers::GetLineage(const Api& api, const Principal& /*principal*/,
                          v1::GetLineageRequest request, Reply<v1::GetLineageResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            auto related = std::make_shared<const RelatedJobs>(RelatedJobsOf(view.state));
            const bool queued =
                api.readers.TryPost([&api, related, job = NodeOf((*entry)->job), reply] {
                  reply(LineageOf(job, *related, [&api](int64_t job_id) {
                    return FindArchivedJob(api.events.archive(), job_id);
                  }));
                });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
