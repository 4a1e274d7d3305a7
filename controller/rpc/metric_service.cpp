#include "controller/rpc/metric_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/rpc/job_view.h"
#include "controller/rpc/limits.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxKeys = 64;
constexpr int kMaxBuckets = 10'000;
constexpr std::size_t kMaxKeyBytes = 256;

absl::Status CheckSeriesRequest(const v1::GetSeriesRequest& request) {
  if (request.keys_size() > kMaxKeys) {
    return absl::InvalidArgumentError(absl::StrCat("keys: at most ", kMaxKeys, " in one call"));
  }
  if (request.buckets() < 0 || request.buckets() > kMaxBuckets) {
    return absl::InvalidArgumentError(absl::StrCat("buckets: 0 to ", kMaxBuckets));
  }
  if (request.from_step() < 0 || request.to_step() < 0 || request.epoch() < 0) {
    return absl::InvalidArgumentError("from_step, to_step and epoch must not be negative");
  }
  for (const std::string& key : request.keys()) {
    if (key.empty() || key.size() > kMaxKeyBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("keys: each has 1 to ", kMaxKeyBytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

SeriesQuery ToQuery(const v1::GetSeriesRequest& request, int64_t job_id) {
  return {.job_id = job_id,
          .keys = {request.keys().begin(), request.keys().end()},
          .from_step = request.from_step(),
          .to_step = request.to_step(),
          .buckets = request.buckets(),
          .epoch = request.epoch()};
}

}  // namespace

void MetricService::RunQuery(const std::string& job, grpc::ServerUnaryReactor* reactor,
                             std::function<absl::Status(int64_t job_id)> query) {
  loop_.Read([this, job, reactor, query = std::move(query)](const ClusterView& view) {
    const auto entry = FindNamedJob(view, job);
    if (!entry.ok()) {
      reactor->Finish(ToGrpc(entry.status()));
      return;
    }
    const bool queued = readers_.TryPost(
        [reactor, query, job_id = (*entry)->job.id()] { reactor->Finish(ToGrpc(query(job_id))); });
    if (!queued) reactor->Finish(ToGrpc(ReaderPool::Busy()));
  });
}

grpc::ServerUnaryReactor* MetricService::GetSeries(grpc::CallbackServerContext* context,
                                                   const v1::GetSeriesRequest* request,
                                                   v1::GetSeriesResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (const absl::Status status = CheckSeriesRequest(*request); !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  RunQuery(request->job(), reactor, [=, this](int64_t job_id) -> absl::Status {
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::Series> series,
                               store_.Read(ToQuery(*request, job_id)));
    for (v1::Series& one : series) *response->add_series() = std::move(one);
    if (response->ByteSizeLong() <= kMaxMessageBytes) return absl::OkStatus();
    response->Clear();
    return absl::ResourceExhaustedError(
        "the points do not fit into one message: ask for fewer steps or keys, or for buckets");
  });
  return reactor;
}

grpc::ServerUnaryReactor* MetricService::ListKeys(grpc::CallbackServerContext* context,
                                                  const v1::ListKeysRequest* request,
                                                  v1::ListKeysResponse* response) {
  auto* reactor = context->DefaultReactor();
  RunQuery(request->job(), reactor, [=, this](int64_t job_id) -> absl::Status {
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<std::string> keys, store_.Keys(job_id));
    for (std::string& key : keys) response->add_keys(std::move(key));
    return absl::OkStatus();
  });
  return reactor;
}

}  // namespace trainyard::controller
