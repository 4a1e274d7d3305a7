// Request handlers for reservations of nodes. Error codes: node_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_RESERVATION_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_RESERVATION_HANDLERS_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller::handlers {

void ListReservations(const Api& api, const Principal& principal,
                      Reply<v1::ListReservationsResponse> reply);
void CreateReservation(const Api& api, const Principal& principal,
                       v1::CreateReservationRequest request,
                       Reply<v1::CreateReservationResponse> reply);
void DeleteReservation(const Api& api, const Principal& principal,
                       v1::DeleteReservationRequest request,
                       Reply<v1::DeleteReservationResponse> reply);

}  // namespace trainyard::controller::handlers

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_RESERVATION_HANDLERS_H_
