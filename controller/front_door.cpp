#include "controller/front_door.h"

#include <optional>
#include <utility>

#include "proto/access/address.h"

namespace trainyard::controller {
namespace {

std::string HostOf(const std::string& address) {
  const std::optional<HostAndPort> parts = SplitAddress(address);
  return parts.has_value() ? parts->host : "";
}

}  // namespace

FrontDoor::FrontDoor(const ControllerOptions& options, std::unique_ptr<SessionStore> sessions,
                     const Clock& clock)
    : gate(options.token, clock, std::move(sessions)),
      prover(options.token, HostOf(options.listen), grpc_port),
      encrypted(!options.tls.certificate.empty()),
      certificate(options.tls.certificate, clock),
      token_watch(options.token_file, options.token, [this](const std::string& token) {
        gate.ReplaceToken(token);
        prover.ReplaceToken(token);
      }) {}

void FrontDoor::StartWatches() {
  certificate.Start();
  token_watch.Start();
}

}  // namespace trainyard::controller
