// The gRPC service for the output of ranks. A client reads it once or follows it.
#ifndef TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_

#include <cstdint>
#include <memory>

#include "controller/api/context/api.h"
#include "trainyard/v1/log_service.grpc.pb.h"

namespace trainyard::controller {

class LogFollowers;

class LogService final : public v1::LogService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit LogService(const Api& api);
  ~LogService() override;

  grpc::ServerWriteReactor<v1::ReadLogsResponse>* ReadLogs(
      grpc::CallbackServerContext* context, const v1::ReadLogsRequest* request) override;

  grpc::ServerUnaryReactor* ReadLogPage(grpc::CallbackServerContext* context,
                                        const v1::ReadLogPageRequest* request,
                                        v1::ReadLogPageResponse* response) override;

  // Wakes the readers that follow the job. Call after output was stored. May be called on any
  // thread.
  void NotifyStored(int64_t job_id);

 private:
  const Api& api_;
  // Shared with readers. An entry expires when its reader is destroyed.
  const std::shared_ptr<LogFollowers> followers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_
