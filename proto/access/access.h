// A client's access to one controller: the token, and how to reach and verify the controller.
#ifndef TRAINYARD_PROTO_ACCESS_ACCESS_H_
#define TRAINYARD_PROTO_ACCESS_ACCESS_H_

#include <sys/types.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/access/token_file.h"

namespace trainyard {

// Created only by FindAccess and required to open a channel (channel.h). So no code can send a
// secret to an unverified controller.
class Access {
 public:
  // HOST:PORT.
  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  // Token file, for messages.
  const std::string& token_file() const { return token_file_; }
  // Certificate in PEM; empty if the connection is unencrypted.
  const std::string& certificate() const { return certificate_; }
  // Unix socket of the controller, tried first; empty for an address of another machine.
  const std::string& local_socket() const { return local_socket_; }
  // Users that may own the process listening at local_socket().
  const std::set<uid_t>& owners() const { return owners_; }
  // True if a controller reached over plain TCP may be at another address than the dialed one, for
  // example behind a forwarded port. Its proof can then also be used by a program that relays the
  // connection.
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

// Access to the controller at HOST:PORT. Reads the token from `places.token_file`, else from
// TokenLink, else from kServiceTokenFile. INVALID_ARGUMENT: malformed address. UNAUTHENTICATED: no
// token. FAILED_PRECONDITION: the address is another machine and the connection would be
// unencrypted. Returns the errors of ReadToken as well.
absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_ACCESS_H_
