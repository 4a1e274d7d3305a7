// Streams of WatchJob.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_

#include <string>

#include "controller/api/api.h"
#include "trainyard/v1/job_service.grpc.pb.h"

namespace trainyard::controller {

// A reactor that sends the job at once, after each change of its state, and at most once a second
// after other progress, until it has ended and everything that it said is stored: who asks for its
// metrics or logs next gets all of them. A worker that cannot send its rest is not waited for
// longer than 2 s. Deletes itself.
grpc::ServerWriteReactor<v1::WatchJobResponse>* NewJobWatch(const Api& api,
                                                            std::string job_reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_WATCH_H_
