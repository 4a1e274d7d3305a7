#include "proto/access/local_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/access/user_name.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 512;
constexpr timeval kConnectLimit{.tv_sec = 1, .tv_usec = 0};

// The address of a Unix socket. A sockaddr_un has only 107 bytes for the path. Therefore the path
// is /proc/self/fd/N/NAME, where N is a descriptor of the directory. This object keeps the
// descriptor open.
struct SocketAddress {
  UniqueFd directory;
  std::string name;
  sockaddr_un address{};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

absl::StatusOr<SocketAddress> AddressOf(const std::string& path) {
  SocketAddress found;
  const fs::path whole = fs::path(path).lexically_normal();
  const std::string directory = whole.has_parent_path() ? whole.parent_path().string() : ".";
  found.name = whole.filename().string();
  found.directory = UniqueFd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (found.directory.get() < 0) return ErrnoStatus(errno, "cannot open", directory);
  const std::string text = absl::StrCat("/proc/self/fd/", found.directory.get(), "/", found.name);
  if (text.size() >= sizeof found.address.sun_path) {
    return ErrnoStatus(ENAMETOOLONG, "cannot use the socket", path);
  }
  found.address.sun_family = AF_UNIX;
  std::memcpy(found.address.sun_path, text.c_str(), text.size() + 1);
  return found;
}

UniqueFd NewSocket() { return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// Returns 0 on success, otherwise the errno value.
int Connect(const UniqueFd& socket, const SocketAddress& where) {
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kConnectLimit, sizeof kConnectLimit);
  return connect(socket.get(), where.get(), sizeof where.address) == 0 ? 0 : errno;
}

// Removes the socket file if no process listens on it.
absl::Status RemoveDeadSocket(const SocketAddress& where, const std::string& path) {
  struct stat info {};
  if (fstatat(where.directory.get(), where.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, "cannot read", path);
  }
  if (!S_ISSOCK(info.st_mode)) {
    return absl::AlreadyExistsError(absl::StrCat(path, " exists and is not a socket"));
  }
  if (Connect(NewSocket(), where) != ECONNREFUSED) {
    return absl::AlreadyExistsError(absl::StrCat("another process listens at ", path));
  }
  if (unlinkat(where.directory.get(), where.name.c_str(), 0) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot remove", path);
}

}  // namespace

std::string LocalSocketPath(const std::string& token_file, int port) {
  std::error_code error;
  const fs::path real = fs::canonical(token_file, error);
  return absl::StrCat(error ? token_file : real.string(), ".", port, ".sock");
}

absl::StatusOr<UniqueFd> ListenOnLocalSocket(const std::string& path, bool for_group) {
  TRAINYARD_ASSIGN_OR_RETURN(const SocketAddress where, AddressOf(path));
  TRAINYARD_RETURN_IF_ERROR(RemoveDeadSocket(where, path));
  UniqueFd socket = NewSocket();
  // Set the mode before listen(2). No process can connect earlier, so the mode applies to every
  // connection.
  if (socket.get() < 0 || bind(socket.get(), where.get(), sizeof where.address) != 0 ||
      fchmodat(where.directory.get(), where.name.c_str(), for_group ? 0660 : 0600, 0) != 0 ||
      listen(socket.get(), kBacklog) != 0) {
    return ErrnoStatus(errno, "cannot listen on the socket", path);
  }
  return socket;
}

absl::StatusOr<UniqueFd> ConnectLocalSocket(const std::string& path,
                                            const std::set<uid_t>& owners) {
  TRAINYARD_ASSIGN_OR_RETURN(const SocketAddress where, AddressOf(path));
  UniqueFd socket = NewSocket();
  const int error = socket.get() < 0 ? errno : Connect(socket, where);
  if (error == ECONNREFUSED) {
    return absl::NotFoundError(absl::StrCat("no process listens at ", path));
  }
  if (error != 0) return ErrnoStatus(error, "cannot connect to", path);
  const std::optional<uid_t> owner = PeerUser(socket);
  if (!owner.has_value() || !owners.contains(*owner)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the process listening at ", path, " belongs to user ",
                     owner.has_value() ? UserName(*owner) : "unknown",
                     ", who does not own the token; ", "nothing was sent to it"));
  }
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return socket;
}

std::optional<uid_t> PeerUser(const UniqueFd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace trainyard
