// A client's access to one controller: the token, the address, and the means to verify the
// controller.
#ifndef TRAINYARD_PROTO_ACCESS_ACCESS_H_
#define TRAINYARD_PROTO_ACCESS_ACCESS_H_

#include <sys/types.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/access/token_file.h"

namespace trainyard {

// Ensures that no secret is sent to an unverified controller: only FindAccess can create this
// object, and opening a channel (channel.h) requires this object.
class Access {
 public:
  // HOST:PORT.
  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  // The path of the token file, for messages.
  const std::string& token_file() const { return token_file_; }
  // The certificate in PEM; empty if the connection is unencrypted.
  const std::string& certificate() const { return certificate_; }
  // The path of the controller's Unix socket, which is tried before TCP; empty if the controller is
  // on another machine.
  const std::string& local_socket() const { return local_socket_; }
  // The users who may own the process that listens at local_socket().
  const std::set<uid_t>& owners() const { return owners_; }
  // Used on plain TCP only. If true, the controller's own address may differ from the dialed
  // address, for example behind a forwarded port. The risk: a program at the dialed address can
  // relay the controller's proof as its own.
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
// is set, otherwise from TokenLink, otherwise from kServiceTokenFile.
//
// INVALID_ARGUMENT: malformed address. UNAUTHENTICATED: no token. FAILED_PRECONDITION: the
// controller is on another machine and the connection would be unencrypted. Errors of ReadToken are
// returned unchanged.
absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_ACCESS_H_
