// The controller's gRPC end of a worker's stream: framing, limits and flow control. The
// WorkerListener interprets the messages.
#ifndef TRAINYARD_CONTROLLER_RPC_WORKER_CONTROL_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_WORKER_CONTROL_SERVICE_H_

#include "controller/access/token_prover.h"
#include "controller/rpc/read_budget.h"
#include "controller/rpc/worker_link.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::controller {

class WorkerControlService final : public v1::WorkerControl::CallbackService {
 public:
  // `listener` and `prover` must outlive every stream. `encrypted` is true if the TCP port uses
  // TLS.
  WorkerControlService(WorkerListener& listener, const TokenProver& prover, bool encrypted);

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::ControllerMessage>* Attach(
      grpc::CallbackServerContext* context) override;

 private:
  WorkerListener& listener_;
  const TokenProver& prover_;
  const bool encrypted_;
  // Shared with permits, which may outlive the service for a short time.
  const std::shared_ptr<ReadBudget> budget_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_WORKER_CONTROL_SERVICE_H_
