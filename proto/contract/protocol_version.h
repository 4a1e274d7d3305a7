// The version of the protocol between worker and controller.
#ifndef TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_
#define TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_

namespace trainyard {

// A worker sends this version in Hello. A controller rejects a worker with another version.
inline constexpr int kProtocolVersion = 1;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_
