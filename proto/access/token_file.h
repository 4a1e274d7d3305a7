// The token for access to a controller: its file, and where clients look for it.
#ifndef TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
#define TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard {

// Path of the token file; has priority over all other places.
inline constexpr char kTokenFileVariable[] = "TRAINYARD_TOKEN_FILE";
// Path of the certificate, or of the certificate authority, that identifies the controller.
inline constexpr char kCaFileVariable[] = "TRAINYARD_CA_FILE";
// "1": connections to other machines need no encryption, and relays are trusted.
inline constexpr char kInsecureVariable[] = "TRAINYARD_INSECURE";
// Name of the token file in a controller's data directory.
inline constexpr char kTokenFileName[] = "token";
// Files of the service (deploy/systemd).
inline constexpr char kServiceTokenFile[] = "/var/lib/trainyard/token";
inline constexpr char kServiceCaFile[] = "/etc/trainyard/ca.pem";

// The parts of a client's environment that name the place of the token.
struct AccessPlaces {
  std::string token_file;
  std::string ca_file;
  std::string home;
  bool insecure = false;
};

// Places from the environment variables of this process: those above, and HOME.
AccessPlaces PlacesOfProcess();

// Reads the token from a file. PERMISSION_DENIED: users outside of its group can access the file,
// or the group can write it. DATA_LOSS: it does not contain a token. Other errors, such as
// NOT_FOUND, name the file.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// Reads the token from the file, which is created with a new token if missing. `for_group`: mode
// 0640, else 0600. Errors name the path and the next step.
absl::StatusOr<std::string> ReadOrMakeToken(const std::string& path, bool for_group);

// Path, below `home`, of the link to the token of the controller at `address`, for clients of this
// user.
std::string TokenLink(const std::string& home, absl::string_view address);
// Creates or replaces the link.
absl::Status LinkToken(const std::string& home, absl::string_view address,
                       const std::string& token_file);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
