#include "controller/api/cluster/session_handlers.h"

#include <string>
#include <utility>
#include <vector>

#include "controller/access/gate.h"

namespace trainyard::controller::handlers {

void ListSessions(const Api& api, const Principal& /*principal*/,
                  const Reply<v1::ListSessionsResponse>& reply) {
  reply(api.gate.ListSessions());
}

void WhoAmI(const Api& /*api*/, const Principal& principal,
            const Reply<v1::WhoAmIResponse>& reply) {
  v1::WhoAmIResponse response;
  response.set_user(principal.user);
  response.set_verified(IsVerified(principal));
  reply(std::move(response));
}

void EndSessions(const Api& api, const Principal& /*principal*/, v1::EndSessionsRequest request,
                 Reply<v1::EndSessionsResponse> reply) {
  if (!request.all() && request.ids().empty()) {
    return reply(absl::InvalidArgumentError("set the ids of the sessions to end, or set `all`"));
  }
  const bool accepted =
      api.readers.TryPost([&gate = api.gate, request = std::move(request), reply] {
        const std::vector<std::string> ids(request.ids().begin(), request.ids().end());
        const absl::StatusOr<int> ended =
            request.all() ? gate.EndAllSessions() : gate.EndSessions(ids);
        if (!ended.ok()) return reply(ended.status());
        v1::EndSessionsResponse response;
        response.set_ended(*ended);
        reply(std::move(response));
      });
  if (!accepted) reply(ReaderPool::Busy());
}

}  // namespace trainyard::controller::handlers
