// Output of ranks, once or followed.
#ifndef TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "controller/rpc/cluster_loop.h"
#include "controller/rpc/reader_pool.h"
#include "controller/rpc/shutdown_signal.h"
#include "controller/store/log_store.h"
#include "trainyard/v1/log_service.grpc.pb.h"

namespace trainyard::controller {

class LogFollowers;

// True when a job that has ended will get no more output. Called on the loop thread.
using OutputComplete = std::function<bool(const JobEntry& entry, const ClusterView& view)>;

class LogService final : public v1::LogService::CallbackService {
 public:
  // What every reader of logs needs; all of it outlives every call.
  struct Context {
    ClusterLoop& loop;
    LogStore& store;
    ReaderPool& readers;
    const ShutdownSignal& shutdown;
    OutputComplete output_complete;
  };

  explicit LogService(Context context);
  ~LogService() override;

  grpc::ServerWriteReactor<v1::ReadLogsResponse>* ReadLogs(
      grpc::CallbackServerContext* context, const v1::ReadLogsRequest* request) override;

  // Output of this job has been stored. Any thread.
  void NotifyStored(int64_t job_id);

 private:
  const Context context_;
  // Shared with readers, which leave it by themselves.
  const std::shared_ptr<LogFollowers> followers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_LOG_SERVICE_H_
