// Version of the stream between worker and controller.
#ifndef TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_
#define TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_

namespace trainyard {

// Sent by a worker in Hello; a controller rejects a worker with another version.
inline constexpr int kProtocolVersion = 1;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PROTOCOL_VERSION_H_
