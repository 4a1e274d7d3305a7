// Access of callers: the token, the sessions of browsers, and the certificate.
#ifndef TRAINYARD_CONTROLLER_FRONT_DOOR_H_
#define TRAINYARD_CONTROLLER_FRONT_DOOR_H_

#include <atomic>
#include <string>

#include "controller/access/certificate_watch.h"
#include "controller/access/gate.h"
#include "controller/access/server_credentials.h"
#include "controller/access/token_prover.h"
#include "controller/access/token_watch.h"
#include "controller/controller_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Members are in dependency order: later members use earlier ones.
struct FrontDoor {
  // `session_file`: see AccessGate. `clock` must outlive this.
  FrontDoor(const ControllerOptions& options, const std::string& session_file, const Clock& clock);

  // Watches the token file and the certificate from now on.
  void StartWatches();

  AccessGate gate;
  // Port of the gRPC server: 0 until it listens.
  std::atomic<int> grpc_port = 0;
  TokenProver prover;
  const TokenCheck token_check{gate, prover};
  const bool encrypted;
  CertificateWatch certificate;
  TokenWatch token_watch;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_FRONT_DOOR_H_
