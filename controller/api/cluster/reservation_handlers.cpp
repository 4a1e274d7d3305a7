#include "controller/api/cluster/reservation_handlers.h"

#include <string>
#include <utility>

#include "controller/core/decide/reservation_requests.h"
#include "controller/core/state/nodes/node_reservations.h"

namespace trainyard::controller {

void handlers::ListReservations(const Api& api, const Principal& /*principal*/,
                                Reply<v1::ListReservationsResponse> reply) {
  api.loop.Read([reply = std::move(reply)](const ClusterView& view) {
    v1::ListReservationsResponse response;
    for (const v1::NodeReservation* reservation : ReservationsByStart(view.state)) {
      *response.add_reservations() = *reservation;
    }
    response.set_as_of_ms(view.now);
    reply(std::move(response));
  });
}

void handlers::CreateReservation(const Api& api, const Principal& principal,
                                 v1::CreateReservationRequest request,
                                 Reply<v1::CreateReservationResponse> reply) {
  const v1::NodeReservation reservation = request.reservation();
  api.loop.Submit(controller::CreateReservation{std::move(request), principal},
                  [reservation, reply = std::move(reply)](const RequestOutcome& outcome,
                                                          const ClusterView& view) {
                    if (!outcome.ok()) return reply(outcome.status());
                    constexpr std::size_t kMostWarnings = 100;
                    v1::CreateReservationResponse response;
                    *response.mutable_reservation() = reservation;
                    for (std::string& warning :
                         JobsInTheWay(view.state, reservation, view.now, kMostWarnings)) {
                      response.add_warnings(std::move(warning));
                    }
                    reply(std::move(response));
                  });
}

void handlers::DeleteReservation(const Api& api, const Principal& principal,
                                 v1::DeleteReservationRequest request,
                                 Reply<v1::DeleteReservationResponse> reply) {
  api.loop.Submit(
      controller::DeleteReservation{std::move(request), principal},
      [reply = std::move(reply)](const RequestOutcome& outcome, const ClusterView& /*view*/) {
        if (!outcome.ok()) return reply(outcome.status());
        reply(v1::DeleteReservationResponse());
      });
}

}  // namespace trainyard::controller
