#include "controller/http/login.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/http/problem.h"
#include "nlohmann/json.hpp"
#include "proto/access/address.h"

namespace trainyard::controller::http {
namespace {

using Json = nlohmann::json;

// Returns the login code in the body. Empty if the body has no code.
std::string CodeIn(const Request& request) {
  const Json body = Json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("code") || !body["code"].is_string()) return "";
  return body["code"].get<std::string>();
}

Response SessionResponse(const OpenedSession& session) {
  Response response{.body = Json({{"id", session.id}, {"secret", session.secret}}).dump()};
  response.cache_control = "no-store";
  return response;
}

}  // namespace

std::string LoginTarget(const std::string& code) {
  return absl::StrCat(kLoginPath, "#code=", code);
}

void AnswerLogin(const Request& request, AccessGate& gate, ReaderPool& readers,
                 const Respond& respond) {
  const std::string code = CodeIn(request);
  if (code.empty()) {
    return respond(
        ProblemResponse("invalid_argument", "the body must be {\"code\": CODE}", kLoginPath));
  }
  const bool accepted = readers.TryPost([&gate, code, address = PeerHost(request), respond] {
    const std::optional<OpenedSession> session = gate.OpenSession(code, address);
    if (session.has_value()) return respond(SessionResponse(*session));
    respond(ProblemResponse("permission_denied",
                            "the login code was used already or is older than 5 minutes; get a new "
                            "address with `trainyard dashboard`",
                            kLoginPath));
  });
  if (!accepted) respond(ProblemResponse(ReaderPool::Busy(), kLoginPath));
}

void RemoveOldCookie(Response& response) {
  response.headers.emplace_back("Set-Cookie",
                                "trainyard_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

}  // namespace trainyard::controller::http
