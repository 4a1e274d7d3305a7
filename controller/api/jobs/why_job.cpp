#include <memory>
#include <utility>

#include "controller/api/jobs/job_handlers.h"
#include "controller/api/jobs/named_job.h"
#include "controller/api/jobs/pending_estimate.h"
#include "controller/core/explain/explain.h"

namespace trainyard::controller {

void handlers::WhyJob(const Api& api, const Principal& /*principal*/, v1::WhyJobRequest request,
                      Reply<v1::WhyJobResponse> reply) {
  ReadJob(api, request.job(),
          [&api, reply = std::move(reply)](const auto& entry, const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            const auto response =
                std::make_shared<v1::WhyJobResponse>(controller::ExplainJob(view, **entry));
            AddEstimate(api, view, **entry, response->pending(),
                        [response, reply](v1::PendingReason pending) {
                          *response->mutable_pending() = std::move(pending);
                          reply(std::move(*response));
                        });
          });
}

}  // namespace trainyard::controller
