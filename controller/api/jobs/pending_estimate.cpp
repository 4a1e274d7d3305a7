#include "controller/api/jobs/pending_estimate.h"

#include <utility>

#include "controller/core/explain/start_estimate.h"

namespace trainyard::controller {

void AddEstimate(const Api& api, const ClusterView& view, const JobEntry& entry,
                 v1::PendingReason reason, std::function<void(v1::PendingReason)> done) {
  const int64_t job_id = entry.job.id();
  const bool waits = view.state.pending_jobs.Contains(QueueKeyOf(entry.job)) ||
                     view.state.dependent_jobs.contains(job_id);
  if (!waits) return done(std::move(reason));
  api.start_forecaster.Ask(view, [job_id, now = view.now, reason = std::move(reason),
                                  done = std::move(done)](const ForecastedStarts& starts) {
    v1::PendingReason estimated = reason;
    SetEstimate(starts, job_id, now, estimated);
    done(std::move(estimated));
  });
}

}  // namespace trainyard::controller
