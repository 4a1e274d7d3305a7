// A client's access to one controller: the token, how to reach the controller, and how to verify
// it.
#ifndef TRAINYARD_PROTO_ACCESS_ACCESS_H_
#define TRAINYARD_PROTO_ACCESS_ACCESS_H_

#include <sys/types.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/access/token_file.h"

namespace trainyard {

// Only FindAccess can create this object, and a channel (channel.h) cannot be opened without it.
// Therefore no code can send a secret to an unverified controller.
class Access {
 public:
  // HOST:PORT.
  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  // The path of the token file, for messages.
  const std::string& token_file() const { return token_file_; }
  // The certificate in PEM; empty if the connection is unencrypted.
  const std::string& certificate() const { return certificate_; }
  // The Unix socket of the controller, which is tried first; empty if the controller is on another
  // machine.
  const std::string& local_socket() const { return local_socket_; }
  // The users who may own the process that listens at local_socket().
  const std::set<uid_t>& owners() const { return owners_; }
  // Concerns plain TCP. True if the controller's own address may differ from the dialed address,
  // for example because a port is forwarded. Then a program that relays the connection can use the
  // controller's proof too.
  bool trusts_relays() const { return trusts_relays_; }

 private:
  friend absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places);
  Access() = default;

  std::string address_;
  std::string token_;
  std::string token_file_;
  std::string certificate_;
  std::string local_socket_;
  std::set<uid_t> owners_;
  bool trusts_relays_ = false;
};

// Returns the access to the controller at HOST:PORT. Reads the token from `places.token_file` if it
// is set, otherwise from TokenLink, otherwise from kServiceTokenFile. INVALID_ARGUMENT: malformed
// address. UNAUTHENTICATED: no token. FAILED_PRECONDITION: the address is on another machine and
// the connection would be unencrypted. The errors of ReadToken are returned too.
absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_ACCESS_H_
