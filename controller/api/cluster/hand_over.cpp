#include "controller/api/cluster/hand_over.h"

#include <string>
#include <utility>

#include "controller/api/context/hand_over_seat.h"
#include "controller/core/decide/hand_over.h"

namespace trainyard::controller::handlers {
namespace {

// Stores the event, replies, and ends the service. The successor is named.
void Record(const Api& api, const Principal& principal, v1::HandOverResponse response,
            Reply<v1::HandOverResponse> reply) {
  RecordHandOver record{response.from(), response.to(), principal};
  api.loop.Submit(std::move(record),
                  [&api, response = std::move(response), reply = std::move(reply)](
                      const RequestOutcome& outcome, const ClusterView& /*view*/) {
                    if (!outcome.ok()) {
                      api.readers.Post([&seat = *api.hand_over] { seat.Cancel(); });
                      return reply(outcome.status());
                    }
                    reply(response);
                    // Queued after the answer, which readers encode for REST.
                    api.readers.Post([&seat = *api.hand_over] { seat.Finish(); });
                  });
}

// Call on a reader thread.
void Begin(const Api& api, const Principal& principal, const v1::HandOverRequest& request,
           const Reply<v1::HandOverResponse>& reply) {
  const v1::Leadership& leadership = api.server_info.leadership();
  ControllerGroup group{.leader = leadership.leader(), .can_have_standbys = true, .standbys = {}};
  auto standbys = api.hand_over->Standbys();
  if (!standbys.ok()) return reply(standbys.status());
  group.standbys = *std::move(standbys);
  const absl::StatusOr<std::string> successor = ChooseSuccessor(group, request);
  if (!successor.ok()) return reply(successor.status());
  const absl::Status begun = api.hand_over->Begin(*successor);
  if (!begun.ok()) return reply(begun);
  v1::HandOverResponse response;
  response.set_from(group.leader);
  response.set_to(*successor);
  response.set_term(leadership.term());
  Record(api, principal, std::move(response), reply);
}

}  // namespace

void HandOver(const Api& api, const Principal& principal, v1::HandOverRequest request,
              Reply<v1::HandOverResponse> reply) {
  if (api.hand_over == nullptr) return reply(ChooseSuccessor({}, request).status());
  const bool accepted = api.readers.TryPost([&api, principal, request = std::move(request), reply] {
    Begin(api, principal, request, reply);
  });
  if (!accepted) reply(ReaderPool::Busy());
}

}  // namespace trainyard::controller::handlers
