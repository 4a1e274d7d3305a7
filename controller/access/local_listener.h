// Accepts callers on the local socket (proto/access/local_socket.h) and gives them to gRPC.
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
#include "proto/contract/unique_fd.h"

namespace trainyard::controller {

// Users who are told apart. Callers of further users are served, as callers without a known user.
inline constexpr int kLocalUsersMax = 256;

// gRPC keeps nothing of a connection that a service could ask for its user, except the port that it
// came in by. So each user has a port, which gets the user's connections from the accepting thread.
class LocalListener {
 public:
  LocalListener();
  // Stops.
  ~LocalListener();

  // Credentials of one such port. `user` is kNoUser until the port has a user, and always for the
  // port of further users; it lives as long as this.
  using MakeCredentials =
      std::function<std::shared_ptr<grpc::ServerCredentials>(const std::atomic<int64_t>& user)>;
  static constexpr int64_t kNoUser = -1;

  // Before the server is built.
  void AddPorts(grpc::ServerBuilder& builder, const MakeCredentials& make_credentials);
  // Listens at `path`, once the server runs. The server outlives this.
  absl::Status Start(const std::string& path, bool for_group);
  // Stops accepting, and removes the socket.
  void Stop();

 private:
  void Accept();
  std::size_t PortOf(uid_t user);

  // The last port is the one of further users.
  std::array<std::atomic<int64_t>, kLocalUsersMax + 1> users_;
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> ports_;
  std::string path_;
  UniqueFd socket_;
  // Readable once the thread is to end.
  UniqueFd stop_;
  std::thread thread_;
  // Used by the accepting thread only.
  std::map<uid_t, std::size_t> known_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LOCAL_LISTENER_H_
