#include "proto/access/token_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/access/local_port.h"
#include "proto/access/secret.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 512;
constexpr std::size_t kCertificateBytesMax = 1 << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The file of the token for the controller at this address; empty when there is none.
std::string FindTokenFile(const std::string& address, const AccessPlaces& places) {
  if (!places.token_file.empty()) return places.token_file;
  if (!places.home.empty()) {
    const std::string link = TokenLink(places.home, address);
    if (Exists(link)) return link;
  }
  return access(kServiceTokenFile, R_OK) == 0 ? kServiceTokenFile : "";
}

// FAILED_PRECONDITION when the port belongs to a user who is neither this one nor root nor the
// owner of the token: that user may have made a listener to collect tokens.
absl::Status CheckListener(const HostAndPort& where, const std::string& token_file) {
  struct stat info {};
  const bool is_known = stat(token_file.c_str(), &info) == 0;
  for (const uid_t owner : OwnersOfListener(where.host, where.port)) {
    if (owner == geteuid() || owner == 0 || (is_known && info.st_uid == owner)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("port ", where.port, " of ", where.host, " belongs to user ", UserName(owner),
                     ", who does not own the token ", token_file,
                     ": the token was not sent; name the controller's address and its token with "
                     "--server and $",
                     kTokenFileVariable));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FindCertificate(const AccessPlaces& places, bool is_local) {
  const bool by_default = places.ca_file.empty();
  if (by_default && (is_local || !Exists(kServiceCaFile))) return std::string();
  return ReadSmallFile(by_default ? kServiceCaFile : places.ca_file, kCertificateBytesMax);
}

}  // namespace

AccessPlaces PlacesOfProcess() {
  return {.token_file = Variable(kTokenFileVariable),
          .ca_file = Variable(kCaFileVariable),
          .home = Variable("HOME"),
          .insecure = Variable(kInsecureVariable) == "1"};
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("other users may read or write the token in ", path,
                     "; make a new one: remove the file and restart the controller"));
  }
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kTokenBytesMax);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        absl::StrCat("cannot read the controller's token: ",
                                     text.status().message(), "; the controller makes it as ",
                                     "DATA_DIR/token, and $", kTokenFileVariable, " names it"));
  }
  const std::string token(absl::StripAsciiWhitespace(*text));
  bool sound = token.size() >= kTokenBytesMin;
  for (const char c : token) sound = sound && absl::ascii_isgraph(static_cast<unsigned char>(c));
  if (sound) return token;
  return absl::DataLossError(
      absl::StrCat(path, " holds no token (at least ", kTokenBytesMin,
                   " printable characters); remove the file and restart the controller"));
}

absl::StatusOr<std::string> ReadOrMakeToken(const std::string& path, bool for_group) {
  const mode_t mode = for_group ? 0640 : 0600;
  if (!Exists(path)) {
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(path, NewSecret() + "\n"));
  }
  // A file of the other setting, or of a umask, gets the right mode too.
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "cannot read", path);
  const mode_t found = info.st_mode & 07777;
  const bool is_private = (found & S_IRWXO) == 0 && (found & S_IWGRP) == 0;
  if (is_private && found != mode && chmod(path.c_str(), mode) != 0) {
    return ErrnoStatus(errno, "cannot set the mode of", path);
  }
  return ReadToken(path);
}

std::string TokenLink(const std::string& home, absl::string_view address) {
  return absl::StrCat(home, "/.local/share/trainyard/tokens/",
                      absl::StrReplaceAll(address, {{"/", "_"}}));
}

absl::Status LinkToken(const std::string& home, absl::string_view address,
                       const std::string& token_file) {
  const fs::path link = TokenLink(home, address);
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  const fs::path made = link.string() + ".new";
  fs::remove(made, error);
  fs::create_symlink(token_file, made, error);
  if (!error) fs::rename(made, link, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot link ", link.string(), " to the token: ", error.message()));
}

absl::StatusOr<Access> FindAccess(const std::string& address, const AccessPlaces& places) {
  const std::optional<HostAndPort> where = SplitAddress(address);
  const bool is_local = where.has_value() && IsLoopback(where->host);
  Access found;
  TRAINYARD_ASSIGN_OR_RETURN(found.certificate, FindCertificate(places, is_local));
  const std::string file = FindTokenFile(address, places);
  if (file.empty()) return found;
  if (is_local) TRAINYARD_RETURN_IF_ERROR(CheckListener(*where, file));
  if (!is_local && found.certificate.empty() && !places.insecure) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the token was not sent to ", address, " unencrypted; name the controller's certificate ",
        "with $", kCaFileVariable, " (deploy/README.md), or set ", kInsecureVariable,
        "=1 in a network that nobody else uses"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(found.token, ReadToken(file));
  return found;
}

}  // namespace trainyard
