// The token for access to a controller: the token file, and the places where clients look for it.
#ifndef TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
#define TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard {

// The environment variable with the path of the token file. This path takes precedence over all
// other places.
inline constexpr char kTokenFileVariable[] = "TRAINYARD_TOKEN_FILE";
// The environment variable with the path of a certificate: the controller's certificate, or the
// certificate of the authority that signed it.
inline constexpr char kCaFileVariable[] = "TRAINYARD_CA_FILE";
// If this environment variable has the value "1", unencrypted connections to other machines are
// permitted and relays are trusted.
inline constexpr char kInsecureVariable[] = "TRAINYARD_INSECURE";
// The name of the token file in a controller's data directory.
inline constexpr char kTokenFileName[] = "token";
// The paths that the systemd service uses (deploy/systemd).
inline constexpr char kServiceTokenFile[] = "/var/lib/trainyard/token";
inline constexpr char kServiceCaFile[] = "/etc/trainyard/ca.pem";

// The values from a client's environment that determine where the client looks for the token.
struct AccessPlaces {
  std::string token_file;
  std::string ca_file;
  std::string home;
  bool insecure = false;
};

// Reads the variables above, and HOME, from this process's environment.
AccessPlaces PlacesOfProcess();

// Reads the token from a file. PERMISSION_DENIED: users outside the file's group have access to the
// file, or the group can write to it. DATA_LOSS: the file does not contain a token. The messages of
// other errors, such as NOT_FOUND, name the file.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// Reads the token from the file. If the file is missing, creates it with a new token. The mode is
// 0640 if `for_group` is true, otherwise 0600. Errors name the path and the next step.
absl::StatusOr<std::string> ReadOrMakeToken(const std::string& path, bool for_group);

// Returns the path of a link below `home`. The link leads to the token of the controller at
// `address`, so that the clients of this user find the token.
std::string TokenLink(const std::string& home, absl::string_view address);
// Creates the link or replaces an existing one.
absl::Status LinkToken(const std::string& home, absl::string_view address,
                       const std::string& token_file);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
