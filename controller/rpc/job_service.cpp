#include "controller/rpc/job_service.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/core/explain.h"
#include "controller/rpc/job_view.h"
#include "controller/rpc/job_watch.h"
#include "controller/store/event_job.h"
#include "proto/support/grpc_status.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxUserBytes = 128;
constexpr std::size_t kMaxRequestIdBytes = 128;
constexpr std::size_t kMaxSpecBytes = 1 << 20;
constexpr std::size_t kMaxSubmitBytes = 4 << 20;
constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;
// A page is cut here, so that a client with gRPC's default limit of 4 MiB can read it.
constexpr std::size_t kPageBytes = 3 << 20;
constexpr int kEventsOfJob = 50;

absl::Status CheckSize(const char* what, std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has ", bytes, " bytes; at most ", max_bytes, " are allowed"));
}

absl::Status CheckSubmit(const v1::SubmitJobRequest& request) {
  absl::Status status = CheckSize("user", request.user().size(), kMaxUserBytes);
  status.Update(CheckSize("request_id", request.request_id().size(), kMaxRequestIdBytes));
  status.Update(CheckSize("spec", request.spec().ByteSizeLong(), kMaxSpecBytes));
  status.Update(CheckSize("request", request.ByteSizeLong(), kMaxSubmitBytes));
  return status;
}

// The job that a submit made, now or, when it was repeated, the first time.
const JobEntry* SubmittedJob(const v1::SubmitJobRequest& request,
                             const std::vector<v1::Event>& events, const ClusterView& view) {
  for (const v1::Event& event : events) {
    if (event.has_job_submitted()) return &view.state.jobs.at(event.job_submitted().job_id());
  }
  const auto found = view.state.job_by_request_id.find(request.request_id());
  return found == view.state.job_by_request_id.end() ? nullptr : &view.state.jobs.at(found->second);
}

// The events say which job was meant: a name may mean another one after them.
absl::StatusOr<const JobEntry*> StoppedJob(const v1::StopJobRequest& request,
                                           const std::vector<v1::Event>& events,
                                           const ClusterView& view) {
  if (!events.empty()) return &view.state.jobs.at(JobIdOf(events.front()));
  return FindNamedJob(view, request.job());
}

absl::StatusOr<int64_t> ParseCursor(const std::string& cursor) {
  if (cursor.empty()) return std::numeric_limits<int64_t>::max();
  int64_t before = 0;
  if (!absl::SimpleAtoi(cursor, &before) || before <= 0) {
    return absl::InvalidArgumentError("cursor: use next_cursor of the page before");
  }
  return before;
}

bool Matches(const v1::ListJobsRequest& request, const v1::Job& job) {
  if (!request.user().empty() && request.user() != job.user()) return false;
  return request.states().empty() || std::find(request.states().begin(), request.states().end(),
                                               job.state()) != request.states().end();
}

void AddListed(const JobEntry& entry, const ClusterView& view, v1::ListJobsResponse& response) {
  *response.add_jobs() = ListedJob(entry, view.observations);
  v1::PendingReason reason = WhyPending(view.state, entry, view.now);
  if (reason.code() == v1::PENDING_CODE_UNSPECIFIED ||
      reason.code() == v1::PENDING_CODE_NOT_PENDING) {
    return;
  }
  (*response.mutable_pending())[entry.job.id()] = std::move(reason);
}

absl::Status FillPage(const v1::ListJobsRequest& request, const ClusterView& view,
                      v1::ListJobsResponse& response) {
  const auto before = ParseCursor(request.cursor());
  if (!before.ok()) return before.status();
  if (request.limit() < 0 || request.limit() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat("limit: 0 to ", kLargestPage));
  }
  const int limit = request.limit() == 0 ? kDefaultPage : request.limit();
  std::size_t bytes = 0;
  for (auto it = view.state.jobs.lower_bound(*before); it != view.state.jobs.begin();) {
    --it;
    if (!Matches(request, it->second.job)) continue;
    if (response.jobs_size() == limit || bytes > kPageBytes) {
      response.set_next_cursor(absl::StrCat(response.jobs().rbegin()->id()));
      break;
    }
    AddListed(it->second, view, response);
    bytes += response.jobs().rbegin()->ByteSizeLong();
  }
  return absl::OkStatus();
}

void AddNodeNames(const ClusterView& view, v1::GetJobResponse& response) {
  for (const v1::Attempt& attempt : response.job().attempts()) {
    for (const v1::RankPlacement& rank : attempt.ranks()) {
      const auto node = view.state.nodes.find(rank.node_id());
      if (node == view.state.nodes.end()) continue;
      (*response.mutable_node_names())[rank.node_id()] = node->second.node.name();
    }
  }
}

}  // namespace

grpc::ServerUnaryReactor* JobService::SubmitJob(grpc::CallbackServerContext* context,
                                                const v1::SubmitJobRequest* request,
                                                v1::SubmitJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (const absl::Status status = CheckSubmit(*request); !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  loop_.Submit(controller::SubmitJob{*request}, [=](const ClusterLoop::Outcome& outcome,
                                                    const ClusterView& view) {
    if (outcome.ok()) {
      const JobEntry* entry = SubmittedJob(*request, *outcome, view);
      if (entry == nullptr) {
        reactor->Finish(ToGrpc(absl::InternalError("the submitted job is not in the state")));
        return;
      }
      *response->mutable_job() = FullJob(*entry, view.observations);
    }
    reactor->Finish(ToGrpc(outcome.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::PlanJob(grpc::CallbackServerContext* context,
                                              const v1::PlanJobRequest* request,
                                              v1::PlanJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (const absl::Status status = CheckSize("spec", request->ByteSizeLong(), kMaxSpecBytes);
      !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  loop_.Read([=](const ClusterView& view) {
    auto plan = controller::PlanJob(view.state, request->spec(), view.now);
    if (plan.ok()) *response = *std::move(plan);
    reactor->Finish(ToGrpc(plan.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsResponse* response) {
  auto* reactor = context->DefaultReactor();
  loop_.Read([=](const ClusterView& view) {
    reactor->Finish(ToGrpc(FillPage(*request, view, *response)));
  });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request,
                                             v1::GetJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  loop_.Read([=, this](const ClusterView& view) {
    const auto entry = FindNamedJob(view, request->job());
    if (!entry.ok()) {
      reactor->Finish(ToGrpc(entry.status()));
      return;
    }
    *response->mutable_job() = FullJob(**entry, view.observations);
    AddNodeNames(view, *response);
    const bool queued = readers_.TryPost([=, this] {
      auto events = event_log_.ReadJobEvents(response->job().id(), kEventsOfJob);
      if (events.ok()) {
        for (v1::Event& event : *events) *response->add_events() = std::move(event);
      }
      reactor->Finish(ToGrpc(events.status()));
    });
    if (!queued) reactor->Finish(ToGrpc(ReaderPool::Busy()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::StopJob(grpc::CallbackServerContext* context,
                                              const v1::StopJobRequest* request,
                                              v1::StopJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (const absl::Status status = CheckSize("user", request->user().size(), kMaxUserBytes);
      !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  loop_.Submit(controller::StopJob{*request},
               [=](const ClusterLoop::Outcome& outcome, const ClusterView& view) {
                 if (!outcome.ok()) {
                   reactor->Finish(ToGrpc(outcome.status()));
                   return;
                 }
                 const auto entry = StoppedJob(*request, *outcome, view);
                 if (entry.ok()) {
                   *response->mutable_job() = FullJob(**entry, view.observations);
                 }
                 reactor->Finish(ToGrpc(entry.status()));
               });
  return reactor;
}

grpc::ServerUnaryReactor* JobService::WhyJob(grpc::CallbackServerContext* context,
                                             const v1::WhyJobRequest* request,
                                             v1::WhyJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  loop_.Read([=](const ClusterView& view) {
    const auto entry = FindNamedJob(view, request->job());
    if (entry.ok()) {
      *response = controller::WhyJob(view.state, view.observations, **entry, view.now);
    }
    reactor->Finish(ToGrpc(entry.status()));
  });
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobService::WatchJob(
    grpc::CallbackServerContext* /*context*/, const v1::WatchJobRequest* request) {
  return NewJobWatch(loop_, shutdown_, request->job());
}

}  // namespace trainyard::controller
