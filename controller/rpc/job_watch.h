// Streams of WatchJob.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_

#include <string>

#include "controller/api/api.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

// A reactor that sends the job at once, after each change of its state, and at most once a second
// after other progress. It ends once the job has ended and all its telemetry and output is stored,
// so that a client that asks for metrics or logs next gets all of them. It waits at most 2 s for
// the final output. Deletes itself.
grpc::ServerWriteReactor<v1::WatchJobResponse>* NewJobWatch(const Api& api,
                                                            std::string job_reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
