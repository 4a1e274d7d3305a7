// Accepts connections on the local socket (proto/access/local_socket.h) and passes them to gRPC.
#ifndef TRAINYARD_CONTROLLER_ACCESS_LOCAL_LISTENER_H_
#define TRAINYARD_CONTROLLER_ACCESS_LOCAL_LISTENER_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "proto/files/unique_fd.h"

namespace trainyard::controller {

// The maximum number of users that the listener can identify. All further users share one port and
// are not identified.
inline constexpr int kLocalUsersMax = 256;

// Each user has a separate port. A gRPC service cannot see the user of a connection, but it can see
// the port. The accepting thread therefore passes each connection to the port of its user.
class LocalListener {
 public:
  LocalListener();
  // Stops.
  ~LocalListener();

  // Creates the credentials of one port. `user` is kNoUser until the port is assigned to a user,
  // and always kNoUser for the port that unidentified users share. `user` is valid as long as the
  // LocalListener exists.
  using MakeCredentials =
      std::function<std::shared_ptr<grpc::ServerCredentials>(const std::atomic<int64_t>& user)>;
  static constexpr int64_t kNoUser = -1;

  // Must be called before the server is built.
  void AddPorts(grpc::ServerBuilder& builder, const MakeCredentials& make_credentials);
  // Listens at `path`. If `for_group` is true, members of the process's group may connect too. Must
  // be called once, after the server has started. The server must outlive this object.
  absl::Status Start(const std::string& path, bool for_group);
  // Stops accepting and removes the socket.
  void Stop();

 private:
  void Accept();
  std::size_t PortOf(uid_t user);

  // The user of each port. The last port is shared by all users beyond kLocalUsersMax.
  std::array<std::atomic<int64_t>, kLocalUsersMax + 1> users_;
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> ports_;
  std::string path_;
  UniqueFd socket_;
  // Becomes readable when the thread must end.
  UniqueFd stop_;
  std::thread thread_;
  // The port index of each known user. Used by the accepting thread only.
  std::map<uid_t, std::size_t> known_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LOCAL_LISTENER_H_
