#include "controller/rpc/job_service.h"

#include "controller/api/deletion.h"
#include "controller/api/job_handlers.h"
#include "controller/api/job_list.h"
#include "controller/rpc/job_watch.h"
#include "controller/rpc/named_request.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* JobService::SubmitJob(grpc::CallbackServerContext* context,
                                                const v1::SubmitJobRequest* request,
                                                v1::SubmitJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::SubmitJob(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::PlanJob(grpc::CallbackServerContext* context,
                                              const v1::PlanJobRequest* request,
                                              v1::PlanJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::PlanJob(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListJobs(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request,
                                             v1::GetJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::GetJob(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::StopJob(grpc::CallbackServerContext* context,
                                              const v1::StopJobRequest* request,
                                              v1::StopJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::StopJob(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::PauseJob(grpc::CallbackServerContext* context,
                                               const v1::PauseJobRequest* request,
                                               v1::PauseJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::PauseJob(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::ResumeJob(grpc::CallbackServerContext* context,
                                                const v1::ResumeJobRequest* request,
                                                v1::ResumeJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ResumeJob(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::DeleteJob(grpc::CallbackServerContext* context,
                                                const v1::DeleteJobRequest* request,
                                                v1::DeleteJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::DeleteJob(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::WhyJob(grpc::CallbackServerContext* context,
                                             const v1::WhyJobRequest* request,
                                             v1::WhyJobResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::WhyJob(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::ListEvents(grpc::CallbackServerContext* context,
                                                 const v1::ListEventsRequest* request,
                                                 v1::ListEventsResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListEvents(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::ListRanks(grpc::CallbackServerContext* context,
                                                const v1::ListRanksRequest* request,
                                                v1::ListRanksResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListRanks(api_, *request, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobService::WatchJob(
    grpc::CallbackServerContext* /*context*/, const v1::WatchJobRequest* request) {
  return NewJobWatch(api_, request->job());
}

}  // namespace trainyard::controller
