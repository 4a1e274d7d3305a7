// The request handler of a planned hand-over. Error codes: node_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_HAND_OVER_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_HAND_OVER_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller::handlers {

// Names the successor on a reader thread, and stores the event. After the reply, the process ends
// its service.
void HandOver(const Api& api, const Principal& principal, v1::HandOverRequest request,
              Reply<v1::HandOverResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_HAND_OVER_H_
