// gRPC channels that carry the token, over TLS where there is a certificate.
#ifndef TRAINYARD_PROTO_ACCESS_CHANNEL_H_
#define TRAINYARD_PROTO_ACCESS_CHANNEL_H_

#include <memory>
#include <string>

#include "grpcpp/grpcpp.h"
#include "proto/access/token_file.h"

namespace trainyard {

// Every call of the channel brings the token. Does not connect yet.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const Access& access,
                                           const grpc::ChannelArguments& arguments = {});

// The same for this process's own environment, for tools and tests: without a token where none is
// found.
std::shared_ptr<grpc::Channel> MakeLocalChannel(const std::string& address,
                                                const grpc::ChannelArguments& arguments = {});

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CHANNEL_H_
