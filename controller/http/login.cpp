#include "controller/http/login.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace trainyard::controller::http {
namespace {

constexpr absl::string_view kCodeField = "?code=";

Response Page(int status, const std::string& head, const std::string& text) {
  Response response{
      .status = status,
      .content_type = "text/html; charset=utf-8",
      .body = absl::StrCat("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">", head,
                           "<title>Trainyard</title><h1>Trainyard</h1><p>", text, "</p></html>\n")};
  response.cache_control = "no-store";
  return response;
}

}  // namespace

std::string LoginTarget(const std::string& code) {
  return absl::StrCat(kLoginPath, kCodeField, code);
}

// A page that goes on to the dashboard, not a redirect: browsers send a SameSite=Strict cookie only
// from a page of the same site.
Response AnswerLogin(const Request& request, AccessGate& gate, bool secure) {
  const std::string start = LoginTarget("");
  const bool has_code = request.method == "GET" && absl::StartsWith(request.target, start);
  const std::string session =
      has_code ? gate.MakeSession(absl::string_view(request.target).substr(start.size())) : "";
  if (session.empty()) {
    return Page(403, "",
                "This code is used up or too old. Get a new one on a machine that has the token: "
                "<code>trainyard dashboard</code>");
  }
  Response response =
      Page(200, "<meta http-equiv=\"refresh\" content=\"0;url=/\">", "<a href=\"/\">Go on</a>");
  response.headers.emplace_back(
      "Set-Cookie",
      absl::StrCat(kSessionCookie, "=", session, "; Path=/; HttpOnly; SameSite=Strict; Max-Age=",
                   AccessGate::kSessionLifeMs / 1000, secure ? "; Secure" : ""));
  return response;
}

Response LoginNeeded() {
  return Page(401, "",
              "Open this page with <code>trainyard dashboard</code>, on a machine that has the "
              "controller's token.");
}

}  // namespace trainyard::controller::http
