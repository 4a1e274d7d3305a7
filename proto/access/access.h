// Access of a client to one controller: the token, and how the controller is reached and checked.
#ifndef TRAINYARD_PROTO_ACCESS_ACCESS_H_
#define TRAINYARD_PROTO_ACCESS_ACCESS_H_

#include <sys/types.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/access/token_file.h"

namespace trainyard {

// Only FindAccess makes one, and only with one can a channel be opened (channel.h): no code can
// send a secret to a controller that it did not check.
class Access {
 public:
  // HOST:PORT.
  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  // File of the token, for messages.
  const std::string& token_file() const { return token_file_; }
  // PEM. Empty: the connection is not encrypted.
  const std::string& certificate() const { return certificate_; }
  // Unix socket of the controller, to be tried first; empty for an address of another machine.
  const std::string& local_socket() const { return local_socket_; }
  // Users whose process may listen at local_socket().
  const std::set<uid_t>& owners() const { return owners_; }
  // A controller reached over plain TCP may be at another address than the dialed one, behind a
  // forwarded port. Its proof is then also good for a program that relays the connection.
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

// Access to the controller at HOST:PORT. The token is in `places.token_file`, else in TokenLink,
// else in kServiceTokenFile. INVALID_ARGUMENT: not an address. UNAUTHENTICATED: no token.
// FAILED_PRECONDITION: another machine would be reached without encryption. Also the errors of
// ReadToken.
absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_ACCESS_H_
