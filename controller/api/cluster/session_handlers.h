// Request handlers for dashboard sessions and users' names. Error codes: access_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_SESSION_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_SESSION_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard::controller::handlers {

void ListSessions(const Api& api, const Principal& principal,
                  const Reply<v1::ListSessionsResponse>& reply);
void WhoAmI(const Api& api, const Principal& principal, const Reply<v1::WhoAmIResponse>& reply);
// Ends the sessions. The change is stored on a reader thread.
void EndSessions(const Api& api, const Principal& principal, v1::EndSessionsRequest request,
                 Reply<v1::EndSessionsResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_SESSION_HANDLERS_H_
