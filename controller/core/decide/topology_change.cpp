#include "controller/core/decide/topology_change.h"

#include <utility>

#include "controller/core/state/topology_index.h"
#include "controller/core/support/principal_event.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::StatusOr<std::vector<v1::Event>> DecideSetTopology(const ClusterState& state,
                                                         const v1::SetTopologyRequest& request,
                                                         const Principal& principal,
                                                         Timestamp now) {
  TRAINYARD_RETURN_IF_ERROR(TopologyIndex::Make(request.topology()).status());
  const bool is_set =
      google::protobuf::util::MessageDifferencer::Equals(state.topology, request.topology());
  if (is_set) return std::vector<v1::Event>();
  v1::Event event = EventBy(principal, now);
  *event.mutable_topology_set()->mutable_topology() = request.topology();
  return std::vector<v1::Event>{std::move(event)};
}

}  // namespace trainyard::controller
