#include "controller/api/cluster/queue_handlers.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/queue_report.h"
#include "controller/core/explain/start_estimate.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultLimit = 100;
constexpr int kMaxLimit = 10'000;

}  // namespace

void handlers::ListQueues(const Api& api, const Principal& /*principal*/,
                          v1::ListQueuesRequest request, Reply<v1::ListQueuesResponse> reply) {
  const int limit = request.limit() == 0 ? kDefaultLimit : request.limit();
  if (limit < 0 || limit > kMaxLimit) {
    return reply(absl::InvalidArgumentError(
        absl::StrCat("`limit` is ", limit, "; it must be from 0 to ", kMaxLimit)));
  }
  api.loop.Read([&api, limit, reply = std::move(reply)](const ClusterView& view) {
    v1::ListQueuesResponse response = QueueReport(view, limit);
    response.set_revision(view.revision);
    api.start_forecaster.Ask(
        view, [reply, response = std::move(response)](const ForecastedStarts& starts) {
          v1::ListQueuesResponse estimated = response;
          for (v1::QueuedJob& job : *estimated.mutable_jobs()) {
            SetEstimate(starts, job.job_id(), estimated.as_of_ms(), *job.mutable_reason());
          }
          reply(std::move(estimated));
        });
  });
}

void handlers::SetQueue(const Api& api, const Principal& principal, v1::SetQueueRequest request,
                        Reply<v1::SetQueueResponse> reply) {
  const std::string name = request.queue().name();
  api.loop.Submit(
      controller::SetQueue{std::move(request), principal},
      [name, reply = std::move(reply)](const RequestOutcome& outcome, const ClusterView& view) {
        if (!outcome.ok()) return reply(outcome.status());
        v1::SetQueueResponse response;
        *response.mutable_queue() = QueueStateOf(view, name);
        reply(std::move(response));
      });
}

void handlers::DeleteQueue(const Api& api, const Principal& principal,
                           v1::DeleteQueueRequest request, Reply<v1::DeleteQueueResponse> reply) {
  api.loop.Submit(
      controller::DeleteQueue{std::move(request), principal},
      [reply = std::move(reply)](const RequestOutcome& outcome, const ClusterView& /*view*/) {
        if (!outcome.ok()) return reply(outcome.status());
        reply(v1::DeleteQueueResponse());
      });
}

}  // namespace trainyard::controller
