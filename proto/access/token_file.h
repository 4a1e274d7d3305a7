// The token that opens a controller: its file, and the places where clients look for it.
#ifndef TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
#define TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard {

// Names the file of the token; wins over every other place.
inline constexpr char kTokenFileVariable[] = "TRAINYARD_TOKEN_FILE";
// Names the certificate, or the certificate authority, that the controller is known by.
inline constexpr char kCaFileVariable[] = "TRAINYARD_CA_FILE";
// "1": the token may cross a network unencrypted.
inline constexpr char kInsecureVariable[] = "TRAINYARD_INSECURE";
// Name of the token's file in the data directory of a controller.
inline constexpr char kTokenFileName[] = "token";
// Of the service (deploy/systemd).
inline constexpr char kServiceTokenFile[] = "/var/lib/trainyard/token";
inline constexpr char kServiceCaFile[] = "/etc/trainyard/ca.pem";

// Environment of a client, as far as it says where the token is.
struct AccessPlaces {
  std::string token_file;
  std::string ca_file;
  std::string home;
  bool insecure = false;
};

// Of this process. Home: HOME, or the user's directory in the password file.
AccessPlaces PlacesOfProcess();

// The token in a file. PERMISSION_DENIED: every user could read or write it. DATA_LOSS: it holds no
// token. NOT_FOUND and the like name the file.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// The token in the file, which is made with a new token when it is missing. `for_group`: mode 0640,
// else 0600. Errors name the path and the next step.
absl::StatusOr<std::string> ReadOrMakeToken(const std::string& path, bool for_group);

// Link to the token of the controller at `address`, for clients of this user: below `home`.
std::string TokenLink(const std::string& home, absl::string_view address);
// Makes the link, or replaces it.
absl::Status LinkToken(const std::string& home, absl::string_view address,
                       const std::string& token_file);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_TOKEN_FILE_H_
