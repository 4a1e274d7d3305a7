// Passes requests that a standby receives to the HTTP server of the leader, and its answers back.
// Users can thus open the page at any controller, and an open page survives the end of its leader.
#ifndef TRAINYARD_CONTROLLER_HTTP_RELAY_H_
#define TRAINYARD_CONTROLLER_HTTP_RELAY_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/access/tls_identity.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

struct RelayLimits {
  // Time limit for the connection to the leader.
  std::chrono::milliseconds connect{2'000};
  // Time limit for an answer; for an event stream, between two messages.
  std::chrono::milliseconds answer{60'000};
  std::size_t header_bytes = 64 << 10;
  std::size_t body_bytes = 256 << 20;
};

class Relay {
 public:
  // With `tls`, the connection is encrypted and the leader must present the same certificate: all
  // controllers have the same TLS files (deploy/README.md). FAILED_PRECONDITION: the certificate
  // cannot be read.
  static absl::StatusOr<std::unique_ptr<Relay>> Start(const TlsIdentity& tls,
                                                      const RelayLimits& limits = {});
  // Ends all connections to the leader. Responses that are not sent by then are dropped.
  ~Relay();

  // Sends the request to the server at `leader` (HOST:PORT), with the header kRelayHeader. If the
  // leader cannot be reached or ends before its answer, the response is a problem with status 503.
  // Does not check the request (guard.h). May be called on any thread.
  void Forward(const std::string& leader, Request request, Respond respond);

 private:
  struct Parts;
  explicit Relay(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_RELAY_H_
