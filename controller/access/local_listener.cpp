#include "controller/access/local_listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "proto/access/local_socket.h"
#include "proto/access/user_name.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// The pause after an error such as "too many open files". Without the pause, the error would recur
// immediately.
constexpr int kPauseAfterErrorMs = 100;

}  // namespace

LocalListener::LocalListener() {
  for (std::atomic<int64_t>& user : users_) user = kNoUser;
}

LocalListener::~LocalListener() { Stop(); }

void LocalListener::AddPorts(grpc::ServerBuilder& builder,
                             const MakeCredentials& make_credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  for (const std::atomic<int64_t>& user : users_) {
    ports_.push_back(builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD,
                                                                          make_credentials(user)));
  }
}

absl::Status LocalListener::Start(const std::string& path, bool for_group) {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!stop_.valid()) return ErrnoStatus(errno, "cannot create an eventfd for", path);
  TRAINYARD_ASSIGN_OR_RETURN(socket_, ListenOnLocalSocket(path, for_group));
  path_ = path;
  thread_ = std::thread([this] { Accept(); });
  return absl::OkStatus();
}

void LocalListener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  if (write(stop_.get(), &one, sizeof one) != sizeof one) spdlog::error("cannot stop {}", path_);
  thread_.join();
  // Remove the socket before anything else stops: a caller that finds the socket expects a running
  // controller.
  unlink(path_.c_str());
  socket_.Reset();
}

void LocalListener::Accept() {
  pollfd waiting[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                      {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
  while (true) {
    if (poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0) return;
    UniqueFd caller(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller.valid()) {
      poll(waiting, 1, kPauseAfterErrorMs);
      continue;
    }
    const std::optional<uid_t> user = PeerUser(caller);
    const std::size_t port = user.has_value() ? PortOf(*user) : kLocalUsersMax;
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = caller.Release();
    ports_[port]->HandleNewConnection(&connection);
  }
}

std::size_t LocalListener::PortOf(uid_t user) {
  const auto known = known_.find(user);
  if (known != known_.end()) return known->second;
  const std::size_t port = known_.size();
  if (port == kLocalUsersMax) {
    spdlog::warn(
        "more than {} users of this machine have connected, so the name of user {} is not verified",
        kLocalUsersMax, UserName(user));
    return kLocalUsersMax;
  }
  known_[user] = port;
  // Set the user before the connection is passed on, so that the user is known at the connection's
  // first call.
  users_[port] = user;
  return port;
}

}  // namespace trainyard::controller
