// Dashboard logins. `trainyard dashboard` prints a code, and the login page exchanges this code for
// a session. The page stores the session's secret in the browser storage of its origin and sends it
// with each request.
#ifndef TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
#define TRAINYARD_CONTROLLER_HTTP_LOGIN_H_

#include <string>

#include "controller/access/gate.h"
#include "controller/api/context/reader_pool.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

inline constexpr char kLoginPath[] = "/login";

// Instructions for clients that send no token.
inline constexpr char kHowToComeIn[] =
    "this controller requires its token. Send the header `Authorization: Bearer TOKEN`, where "
    "TOKEN is the text of the file `token` in the controller's data directory. To open the "
    "dashboard in a browser, run `trainyard dashboard`";

// Returns the path of the login page, with the code in the fragment. Browsers do not send
// fragments, so the code does not appear in logs, and a link preview cannot use up the code.
std::string LoginTarget(const std::string& code);

// Handles POST {"code": CODE}: invalidates the code and answers with a new session, {"id": ID,
// "secret": SECRET}. Stores the session on a reader thread.
void AnswerLogin(const Request& request, AccessGate& gate, ReaderPool& readers,
                 const Respond& respond);

// Makes the browser delete the session cookie of earlier releases. The controller no longer reads
// the cookie, but the browser would send it to every port of the host.
void RemoveOldCookie(Response& response);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
