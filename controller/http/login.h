// Logins of the dashboard: a code of `trainyard dashboard` becomes a cookie.
#ifndef TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
#define TRAINYARD_CONTROLLER_HTTP_LOGIN_H_

#include <string>

#include "controller/access/gate.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

inline constexpr char kLoginPath[] = "/login";

// For programs that came without a token.
inline constexpr char kHowToComeIn[] =
    "this controller wants its token: send `Authorization: Bearer TOKEN` with the text of the file "
    "`token` in the controller's data directory; people open the dashboard with `trainyard "
    "dashboard`";

// The address of the page that takes a code: path and query.
std::string LoginTarget(const std::string& code);

// Takes the code of the request, once, and sets the cookie. `secure`: the cookie is for https
// alone.
Response AnswerLogin(const Request& request, AccessGate& gate, bool secure);

// The page for a browser without a cookie.
Response LoginNeeded();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
