// Decodes what users ask about jobs, hands it to the loop, and encodes the answer.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_

#include "controller/rpc/cluster_loop.h"
#include "controller/rpc/reader_pool.h"
#include "controller/rpc/shutdown_signal.h"
#include "controller/store/event_log.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

class JobService final : public v1::JobService::CallbackService {
 public:
  // All arguments outlive every call.
  JobService(ClusterLoop& loop, EventLog& event_log, ReaderPool& readers,
             const ShutdownSignal& shutdown)
      : loop_(loop), event_log_(event_log), readers_(readers), shutdown_(shutdown) {}

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
  grpc::ServerUnaryReactor* StopJob(grpc::CallbackServerContext* context,
                                    const v1::StopJobRequest* request,
                                    v1::StopJobResponse* response) override;
  grpc::ServerUnaryReactor* WhyJob(grpc::CallbackServerContext* context,
                                   const v1::WhyJobRequest* request,
                                   v1::WhyJobResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override;

 private:
  ClusterLoop& loop_;
  EventLog& event_log_;
  ReaderPool& readers_;
  const ShutdownSignal& shutdown_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_SERVICE_H_
