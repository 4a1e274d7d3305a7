// Reads a topology file.
#ifndef TRAINYARD_PROTO_JOBSPEC_TOPOLOGY_FILE_H_
#define TRAINYARD_PROTO_JOBSPEC_TOPOLOGY_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "trainyard/v1/topology.pb.h"

namespace trainyard {

inline constexpr std::size_t kMaxTopologyFileBytes = 1 << 20;

// Reads YAML such as
//   groups:
//     - {name: spine1, level: spine, groups: "leaf[1-2]"}
//     - {name: leaf1, level: leaf, nodes: ["gpu[01-16]", gpu40]}
//   levels:
//     - {name: spine, gpu_bandwidth: 12.5e9, latency_seconds: 12e-6}
// `levels` may be missing.
// INVALID_ARGUMENT: the text is not of this form, or it has more than kMaxTopologyFileBytes with
// its aliases replaced. The controller checks the groups.
absl::StatusOr<v1::Topology> ParseTopology(const std::string& text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_TOPOLOGY_FILE_H_
