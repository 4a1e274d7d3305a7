// The gRPC service for commands and queries about jobs.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

class JobService final : public v1::JobService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit JobService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobResponse* response) override;
  grpc::ServerUnaryReactor* PlanJob(grpc::CallbackServerContext* context,
                                    const v1::PlanJobRequest* request,
                                    v1::PlanJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* PauseJob(grpc::CallbackServerContext* context,
                                     const v1::PauseJobRequest* request,
                                     v1::PauseJobResponse* response) override;
  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const v1::ResumeJobRequest* request,
                                      v1::ResumeJobResponse* response) override;
  grpc::ServerUnaryReactor* StopJob(grpc::CallbackServerContext* context,
                                    const v1::StopJobRequest* request,
                                    v1::StopJobResponse* response) override;
  grpc::ServerUnaryReactor* ExtendJob(grpc::CallbackServerContext* context,
                                      const v1::ExtendJobRequest* request,
                                      v1::ExtendJobResponse* response) override;
  grpc::ServerUnaryReactor* WriteNote(grpc::CallbackServerContext* context,
                                      const v1::WriteNoteRequest* request,
                                      v1::WriteNoteResponse* response) override;
  grpc::ServerUnaryReactor* DeleteNote(grpc::CallbackServerContext* context,
                                       const v1::DeleteNoteRequest* request,
                                       v1::DeleteNoteResponse* response) override;
  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::DeleteJobResponse* response) override;
  grpc::ServerUnaryReactor* GetLineage(grpc::CallbackServerContext* context,
                                       const v1::GetLineageRequest* request,
                                       v1::GetLineageResponse* response) override;
  grpc::ServerUnaryReactor* GetArray(grpc::CallbackServerContext* context,
                                     const v1::GetArrayRequest* request,
                                     v1::GetArrayResponse* response) override;
  grpc::ServerUnaryReactor* WhyJob(grpc::CallbackServerContext* context,
                                   const v1::WhyJobRequest* request,
                                   v1::WhyJobResponse* response) override;
  grpc::ServerUnaryReactor* ListEvents(grpc::CallbackServerContext* context,
                                       const v1::ListEventsRequest* request,
                                       v1::ListEventsResponse* response) override;
  grpc::ServerUnaryReactor* ListRanks(grpc::CallbackServerContext* context,
                                      const v1::ListRanksRequest* request,
                                      v1::ListRanksResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_
