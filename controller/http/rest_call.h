// A call of the REST interface, and its answer.
#ifndef TRAINYARD_CONTROLLER_HTTP_REST_CALL_H_
#define TRAINYARD_CONTROLLER_HTTP_REST_CALL_H_

#include <memory>
#include <string>
#include <utility>

#include "controller/access/gate.h"
#include "controller/api/context/api.h"
#include "controller/http/exchange.h"
#include "controller/http/parameter_requests.h"
#include "controller/http/problem.h"
#include "controller/http/route.h"
#include "proto/json/json_text.h"

namespace trainyard::controller::http {

// A request that is being handled. The callbacks that receive handlers' replies own a copy.
struct RestCall {
  const Route* route = nullptr;
  Parameters parameters;
  std::shared_ptr<const Request> request;
  std::string path;
  Respond respond;

  void Refuse(const absl::Status& status) const { respond(ProblemResponse(status, path)); }

  // Calls `handler` with the identity of the caller. `claimed` is the user that the request names.
  template <typename Handler, typename... Arguments>
  void AskAs(const std::string& claimed, const Api& api, Handler handler,
             Arguments&&... arguments) const {
    const auto principal = api.gate.PrincipalOf(request->session_id, claimed);
    if (!principal.ok()) return Refuse(principal.status());
    handler(api, *principal, std::forward<Arguments>(arguments)...);
  }

  // Like the function above, but for requests that name no user.
  template <typename Handler, typename... Arguments>
  void Ask(const Api& api, Handler handler, Arguments&&... arguments) const {
    AskAs("", api, handler, std::forward<Arguments>(arguments)...);
  }
};

// Returns the fields that the caller wants of the elements of `list`.
inline ElementFields FieldsOf(const Parameters& parameters, const char* list) {
  ElementFields only{.list = list, .fields = {}};
  for (std::string& field : parameters.List("fields")) only.fields.insert(std::move(field));
  return only;
}

// Encodes on a reader thread, because encoding megabytes of text would block the loop thread or the
// server's thread.
template <typename Message, typename Encode>
Reply<Message> RespondWith(const Api& api, const Respond& respond, const std::string& path,
                           Encode encode) {
  return [&api, respond, path, encode](absl::StatusOr<Message> message) {
    if (!message.ok()) return respond(ProblemResponse(message.status(), path));
    api.readers.Post([respond, encode, shared = std::make_shared<Message>(*std::move(message))] {
      respond(encode(*shared));
    });
  };
}

template <typename Message>
Reply<Message> RespondJson(const Api& api, const Respond& respond, const std::string& path,
                           ElementFields only = {}) {
  return RespondWith<Message>(api, respond, path, [only](const Message& message) {
    return Response{.body = JsonText(message, only)};
  });
}

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_REST_CALL_H_
