// Accepts callers on the local socket (proto/access/local_socket.h) and passes them to gRPC.
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

// Maximum number of users that are identified. Connections of any further user have no known user.
inline constexpr int kLocalUsersMax = 256;

// A gRPC service cannot find out a connection's user, only the port on which it arrived. Therefore
// each user has a port, to which the accepting thread passes the user's connections.
class LocalListener {
 public:
  LocalListener();
  // Stops.
  ~LocalListener();

  // Creates the credentials of one such port. `user` is kNoUser until the port is assigned to a
  // user. On the port shared by further users it is always kNoUser. `user` lives as long as this
  // object.
  using MakeCredentials =
      std::function<std::shared_ptr<grpc::ServerCredentials>(const std::atomic<int64_t>& user)>;
  static constexpr int64_t kNoUser = -1;

  // Call before the server is built.
  void AddPorts(grpc::ServerBuilder& builder, const MakeCredentials& make_credentials);
  // Listens at `path`. Call once the server runs. The server must outlive this object.
  absl::Status Start(const std::string& path, bool for_group);
  // Stops accepting and removes the socket.
  void Stop();

 private:
  void Accept();
  std::size_t PortOf(uid_t user);

  // User of each port. The last port is shared by further users.
  std::array<std::atomic<int64_t>, kLocalUsersMax + 1> users_;
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> ports_;
  std::string path_;
  UniqueFd socket_;
  // Becomes readable when the thread must end.
  UniqueFd stop_;
  std::thread thread_;
  // Used by the accepting thread only.
  std::map<uid_t, std::size_t> known_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LOCAL_LISTENER_H_
