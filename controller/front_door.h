// Controls the access of callers by token, browser session and TLS certificate.
#ifndef TRAINYARD_CONTROLLER_FRONT_DOOR_H_
#define TRAINYARD_CONTROLLER_FRONT_DOOR_H_

#include <atomic>
#include <memory>
#include <string>

#include "controller/access/certificate_watch.h"
#include "controller/access/gate.h"
#include "controller/access/server_credentials.h"
#include "controller/access/token_prover.h"
#include "controller/access/token_watch.h"
#include "controller/controller_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Members are in dependency order: each member uses only members above it.
struct FrontDoor {
  // `sessions` is passed to AccessGate. `clock` must outlive this object.
  FrontDoor(const ControllerOptions& options, std::unique_ptr<SessionStore> sessions,
            const Clock& clock);

  // Starts to watch the token file and the certificate.
  void StartWatches();

  AccessGate gate;
  // The port of the gRPC server. 0 until the server listens.
  std::atomic<int> grpc_port = 0;
  TokenProver prover;
  const TokenCheck token_check{gate, prover};
  const bool encrypted;
  CertificateWatch certificate;
  TokenWatch token_watch;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_FRONT_DOOR_H_
