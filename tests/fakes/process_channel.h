// gRPC channels for tools and tests. Token and certificate come from the process's environment.
#ifndef TRAINYARD_TESTS_FAKES_PROCESS_CHANNEL_H_
#define TRAINYARD_TESTS_FAKES_PROCESS_CHANNEL_H_

#include <memory>
#include <string>

#include "grpcpp/grpcpp.h"
#include "proto/access/channel.h"

namespace trainyard {

// Returns a channel to the controller at `address`. If no server answers there, every call fails
// with UNAVAILABLE.
inline std::shared_ptr<grpc::Channel> OpenProcessChannel(
    const std::string& address, const grpc::ChannelArguments& arguments = {}) {
  const auto access = FindAccess(address, PlacesOfProcess());
  if (access.ok()) {
    auto opened = OpenChannel(*access, {.arguments = arguments});
    if (opened.ok()) return std::move(opened->channel);
  }
  return grpc::CreateCustomChannel("ipv4:127.0.0.1:1", grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_PROCESS_CHANNEL_H_
