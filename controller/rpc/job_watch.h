// Streams of WatchJob.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_

#include <string>

#include "controller/api/context/api.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

// Returns a reactor that sends the job immediately and after each change of its state. If only
// progress has changed, sends the job at most once per second. The stream ends when the job has
// ended and all its telemetry and output is stored, but waits for the final output for at most 2 s.
// A client that then requests metrics or logs gets all of them. The reactor deletes itself.
grpc::ServerWriteReactor<v1::WatchJobResponse>* NewJobWatch(const Api& api,
                                                            std::string job_reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
