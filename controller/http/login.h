// Dashboard logins. A page exchanges the code that `trainyard dashboard` prints for a session. The
// page stores the session's secret in the browser storage of its origin and sends it with each
// request.
#ifndef TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
#define TRAINYARD_CONTROLLER_HTTP_LOGIN_H_

#include <string>

#include "controller/access/gate.h"
#include "controller/api/reader_pool.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

inline constexpr char kLoginPath[] = "/login";

// Instructions for clients that send no token.
inline constexpr char kHowToComeIn[] =
    "this controller requires its token. Send the header `Authorization: Bearer TOKEN`, where "
    "TOKEN is the text of the file `token` in the controller's data directory. To open the "
    "dashboard in a browser, run `trainyard dashboard`";

// Returns the path and fragment of the login page with a code. The code is in the fragment, which
// browsers do not send. Therefore it appears in no log, and programs that preview links do not use
// it up.
std::string LoginTarget(const std::string& code);

// Handles POST {"code": CODE}: invalidates the code and returns a session as {"id": ID, "secret":
// SECRET}. The session is stored on a reader thread.
void AnswerLogin(const Request& request, AccessGate& gate, ReaderPool& readers,
                 const Respond& respond);

// Makes the browser delete the session cookie of earlier releases, which the browser still sends to
// every port of the host. The cookie is no longer read.
void RemoveOldCookie(Response& response);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_LOGIN_H_
