#include "proto/access/token_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/access/secret.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 512;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
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
        absl::StrCat("other users can read or write the token in ", path,
                     "; to create a new token, remove the file and restart the controller"));
  }
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kTokenBytesMax);
  if (!text.ok()) {
    return absl::Status(
        text.status().code(),
        absl::StrCat(
            "cannot read the controller's token: ", text.status().message(), "; set $",
            kTokenFileVariable,
            " to the path of the token file, which the controller creates as DATA_DIR/token"));
  }
  const std::string token(absl::StripAsciiWhitespace(*text));
  bool sound = token.size() >= kTokenBytesMin;
  for (const char c : token) sound = sound && absl::ascii_isgraph(static_cast<unsigned char>(c));
  if (sound) return token;
  return absl::DataLossError(
      absl::StrCat(path, " contains no token (at least ", kTokenBytesMin,
                   " printable characters); remove the file and restart the controller"));
}

absl::StatusOr<std::string> ReadOrMakeToken(const std::string& path, bool for_group) {
  const mode_t mode = for_group ? 0640 : 0600;
  if (!Exists(path)) {
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(path, NewSecret() + "\n"));
  }
  // Correct the mode of an existing file. The file may have been created with another value of
  // `for_group` or another umask.
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
  return absl::FailedPreconditionError(absl::StrCat("cannot create the symbolic link ",
                                                    link.string(), " to the token file ",
                                                    token_file, ": ", error.message()));
}

}  // namespace trainyard
