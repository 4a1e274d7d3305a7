// Streams of WatchJob.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_

#include <string>

#include "controller/api/api.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

// A reactor that sends the job at once, after each change of its state, and at most once a second
// after other progress, until it has ended. Deletes itself.
grpc::ServerWriteReactor<v1::WatchJobResponse>* NewJobWatch(ClusterLoop& loop,
                                                            const ShutdownSignal& shutdown,
                                                            std::string job_reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
