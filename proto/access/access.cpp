#include "proto/access/access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"
#include "proto/access/local_socket.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCertificateBytesMax = 1 << 20;

bool FileExists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns the path of the token file; empty if there is none.
std::string FindTokenFile(const std::string& address, const AccessPlaces& places) {
  if (!places.token_file.empty()) return places.token_file;
  if (!places.home.empty()) {
    const std::string link = TokenLink(places.home, address);
    if (FileExists(link)) return link;
  }
  return access(kServiceTokenFile, R_OK) == 0 ? kServiceTokenFile : "";
}

absl::StatusOr<std::string> FindCertificate(const AccessPlaces& places, bool is_local) {
  const bool by_default = places.ca_file.empty();
  if (by_default && (is_local || !FileExists(kServiceCaFile))) return std::string();
  return ReadSmallFile(by_default ? kServiceCaFile : places.ca_file, kCertificateBytesMax);
}

// Returns the users who may own the controller's socket: this user, root and the owner of the token
// file. No other user can run the controller, because no other user can read the token.
std::set<uid_t> OwnersOf(const std::string& token_file) {
  std::set<uid_t> owners = {geteuid(), 0};
  struct stat info {};
  if (stat(token_file.c_str(), &info) == 0) owners.insert(info.st_uid);
  return owners;
}

}  // namespace

absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places) {
  const std::optional<HostAndPort> where = SplitAddress(address);
  if (!where.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is not the address of a controller; expected HOST:PORT, ",
                     "such as 127.0.0.1:7070"));
  }
  const bool is_local = IsLoopback(where->host);
  Access found;
  found.address_ = address;
  found.trusts_relays_ = places.insecure;
  found.token_file_ = FindTokenFile(address, places);
  if (found.token_file_.empty()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "no token for the controller at ", address, "; set ", kTokenFileVariable,
        " to the controller's token file (`token` in the data directory of the controller). ",
        "`trainyard dev` starts a controller on this machine"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(found.certificate_, FindCertificate(places, is_local));
  if (!is_local && found.certificate_.empty() && !places.insecure) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nothing was sent to ", address, " because the connection would not be encrypted; set ",
        kCaFileVariable, " to the controller's certificate (deploy/README.md). Set ",
        kInsecureVariable, "=1 only on a trusted network"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(found.token_, ReadToken(found.token_file_));
  if (is_local) {
    found.local_socket_ = LocalSocketPath(found.token_file_, where->port);
    found.owners_ = OwnersOf(found.token_file_);
  }
  return found;
}

}  // namespace trainyard
