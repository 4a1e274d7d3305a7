// Error responses as application/problem+json (RFC 9457).
#ifndef TRAINYARD_CONTROLLER_HTTP_PROBLEM_H_
#define TRAINYARD_CONTROLLER_HTTP_PROBLEM_H_

#include <string>

#include "absl/status/status.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

// `code` is one of the fixed names in problem.cpp.
Response ProblemResponse(const std::string& code, const std::string& detail,
                         const std::string& instance);

// Returns the response to a request that a handler refused. The status determines the code.
Response ProblemResponse(const absl::Status& status, const std::string& instance);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_PROBLEM_H_
