// The gRPC service for commands that users run beside a rank.
#ifndef TRAINYARD_CONTROLLER_RPC_EXEC_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_EXEC_SERVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "controller/api/context/api.h"
#include "controller/core/decide/exec.h"
#include "controller/rpc/exec_relay.h"
#include "controller/rpc/exec_table.h"
#include "trainyard/v1/exec_service.grpc.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Access to the attached workers. Called on the loop thread.
struct ExecWorkers {
  // FAILED_PRECONDITION: the node's worker is not connected, or is of a release without exec.
  std::function<absl::Status(const std::string& node_id)> check;
  // Sends the message, and returns the errors of `check`.
  std::function<absl::Status(const std::string& node_id, v1::OpenExec message)> open;
};

class ExecService final : public v1::ExecService::CallbackService {
 public:
  // `api` must outlive every call.
  ExecService(const Api& api, ExecWorkers workers, const ExecLimits& limits = {})
      : api_(api), workers_(std::move(workers)), limits_(limits) {}

  ExecRelay::ClientStream* Exec(grpc::CallbackServerContext* context) override;
  ExecRelay::WorkerStream* ServeExec(grpc::CallbackServerContext* context) override;

 private:
  class ClientReactor;
  class WorkerReactor;

  // Opens the session that the first message of a client requests.
  void Open(const std::shared_ptr<ExecRelay>& relay, const v1::ExecStart& start,
            const Principal& principal);
  // Called on the loop thread.
  void OpenBeside(const JobEntry& entry, const std::shared_ptr<ExecRelay>& relay,
                  const v1::ExecStart& start, const Principal& principal);
  void Send(const ExecTarget& target, const std::string& id, const v1::ExecCommand& command,
            ExecRelay& relay, const ClusterView& view);

  const Api& api_;
  const ExecWorkers workers_;
  const ExecLimits limits_;
  // Shared with relays, which remove their entry at the end of a session.
  const std::shared_ptr<ExecTable> table_ = std::make_shared<ExecTable>();
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_EXEC_SERVICE_H_
