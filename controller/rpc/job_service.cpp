#include "controller/rpc/job_service.h"

#include "controller/api/deletion/deletion.h"
#include "controller/api/jobs/array_handlers.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/api/jobs/job_list.h"
#include "controller/api/jobs/lineage.h"
#include "controller/rpc/job_watch.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* JobService::SubmitJob(grpc::CallbackServerContext* context,
                                                const v1::SubmitJobRequest* request,
                                                v1::SubmitJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::SubmitJob, *request);
}

grpc::ServerUnaryReactor* JobService::PlanJob(grpc::CallbackServerContext* context,
                                              const v1::PlanJobRequest* request,
                                              v1::PlanJobResponse* response) {
  return Answer({api_, context}, response, handlers::PlanJob, *request);
}

grpc::ServerUnaryReactor* JobService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsResponse* response) {
  return Answer({api_, context}, response, handlers::ListJobs, *request);
}

grpc::ServerUnaryReactor* JobService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request,
                                             v1::GetJobResponse* response) {
  return Answer({api_, context}, response, handlers::GetJob, *request);
}

grpc::ServerUnaryReactor* JobService::StopJob(grpc::CallbackServerContext* context,
                                              const v1::StopJobRequest* request,
                                              v1::StopJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::StopJob, *request);
}

grpc::ServerUnaryReactor* JobService::PauseJob(grpc::CallbackServerContext* context,
                                               const v1::PauseJobRequest* request,
                                               v1::PauseJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::PauseJob, *request);
}

grpc::ServerUnaryReactor* JobService::ResumeJob(grpc::CallbackServerContext* context,
                                                const v1::ResumeJobRequest* request,
                                                v1::ResumeJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::ResumeJob, *request);
}

grpc::ServerUnaryReactor* JobService::ExtendJob(grpc::CallbackServerContext* context,
                                                const v1::ExtendJobRequest* request,
                                                v1::ExtendJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::ExtendJob, *request);
}

grpc::ServerUnaryReactor* JobService::WriteNote(grpc::CallbackServerContext* context,
                                                const v1::WriteNoteRequest* request,
                                                v1::WriteNoteResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::WriteNote, *request);
}

grpc::ServerUnaryReactor* JobService::DeleteNote(grpc::CallbackServerContext* context,
                                                 const v1::DeleteNoteRequest* request,
                                                 v1::DeleteNoteResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::DeleteNote, *request);
}

grpc::ServerUnaryReactor* JobService::DeleteJob(grpc::CallbackServerContext* context,
                                                const v1::DeleteJobRequest* request,
                                                v1::DeleteJobResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::DeleteJob, *request);
}

grpc::ServerUnaryReactor* JobService::GetLineage(grpc::CallbackServerContext* context,
                                                 const v1::GetLineageRequest* request,
                                                 v1::GetLineageResponse* response) {
  return Answer({api_, context}, response, handlers::GetLineage, *request);
}

grpc::ServerUnaryReactor* JobService::GetArray(grpc::CallbackServerContext* context,
                                               const v1::GetArrayRequest* request,
                                               v1::GetArrayResponse* response) {
  return Answer({api_, context}, response, handlers::GetArray, *request);
}

grpc::ServerUnaryReactor* JobService::WhyJob(grpc::CallbackServerContext* context,
                                             const v1::WhyJobRequest* request,
                                             v1::WhyJobResponse* response) {
  return Answer({api_, context}, response, handlers::WhyJob, *request);
}

grpc::ServerUnaryReactor* JobService::ListEvents(grpc::CallbackServerContext* context,
                                                 const v1::ListEventsRequest* request,
                                                 v1::ListEventsResponse* response) {
  return Answer({api_, context}, response, handlers::ListEvents, *request);
}

grpc::ServerUnaryReactor* JobService::ListRanks(grpc::CallbackServerContext* context,
                                                const v1::ListRanksRequest* request,
                                                v1::ListRanksResponse* response) {
  return Answer({api_, context}, response, handlers::ListRanks, *request);
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobService::WatchJob(
    grpc::CallbackServerContext* /*context*/, const v1::WatchJobRequest* request) {
  return NewJobWatch(api_, request->job());
}

}  // namespace trainyard::controller
