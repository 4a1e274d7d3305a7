// Answers the gRPC calls to a standby: proves the token, reports the role, and refuses everything
// else with the address of the leader.
#ifndef TRAINYARD_CONTROLLER_RPC_STANDBY_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_STANDBY_SERVICE_H_

#include <functional>
#include <string>
#include <utility>

#include "controller/access/token_prover.h"
#include "grpcpp/generic/async_generic_service.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns the answer to GetServerInfo; its field `leadership` names the leader. May be called on
// any thread.
using DescribeStandby = std::function<v1::GetServerInfoResponse()>;

class StandbyService final : public grpc::CallbackGenericService {
 public:
  // `prover` must outlive every call.
  StandbyService(const TokenProver& prover, DescribeStandby describe)
      : prover_(prover), describe_(std::move(describe)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  class Call;

  // Sets `response` to the serialized response to a call.
  grpc::Status Answer(const std::string& method, const grpc::ByteBuffer& request,
                      grpc::ByteBuffer& response) const;

  const TokenProver& prover_;
  const DescribeStandby describe_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_STANDBY_SERVICE_H_
