#include "controller/http/problem.h"

#include <array>
#include <string_view>

#include "proto/json/json_text.h"
#include "proto/support/status_text.h"
#include "trainyard/v1/problem.pb.h"

namespace trainyard::controller::http {
namespace {

struct Kind {
  std::string_view code;
  int status;
  std::string_view title;
  std::string_view hint;
};

// The codes must not change, because clients distinguish problems by `code`.
constexpr std::array kProblemKinds = {
    Kind{"invalid_argument", 400, "Invalid request",
         "Correct the part named in `detail`; /api/v1/openapi.json describes every request."},
    Kind{"bad_request", 400, "The request is not well formed",
         "Send HTTP/1.1 as curl or a browser does."},
    Kind{"unauthenticated", 401, "The token is missing or wrong",
         "Send the header `Authorization: Bearer TOKEN`, or open the dashboard with `trainyard "
         "dashboard`."},
    Kind{"cross_origin", 403, "The request comes from another web site",
         "Use the dashboard that this controller serves, or a program outside a browser."},
    Kind{"permission_denied", 403, "Not allowed", ""},
    Kind{"not_found", 404, "Not found",
         "/api/v1/jobs lists the jobs, and /api/v1/nodes lists the nodes."},
    Kind{"no_such_path", 404, "No such path", "/api/v1/openapi.json lists the paths."},
    Kind{"method_not_allowed", 405, "The path does not support this method",
         "The header Allow lists the methods."},
    Kind{"request_timeout", 408, "The request did not arrive in time", "Send it again."},
    Kind{"already_exists", 409, "Already exists", "Choose another name."},
    Kind{"failed_precondition", 409, "Not possible in the current state", ""},
    Kind{"body_too_large", 413, "The body is too large", "Send at most 2 MiB."},
    Kind{"target_too_long", 414, "The address is too long", "Send at most 8 KiB."},
    Kind{"unsupported_media_type", 415, "Unsupported body type",
         "Send JSON with the header Content-Type: application/json."},
    Kind{"host_not_allowed", 421, "Unknown host name",
         "Use the machine's address or name, or start the controller with --http-host NAME."},
    Kind{"header_too_large", 431, "The header is too large", "Send at most 16 KiB."},
    Kind{"resource_exhausted", 429, "Too many requests", "Try again shortly."},
    Kind{"internal", 500, "The controller failed", "See the controller's log."},
    Kind{"data_loss", 500, "Stored data is damaged", "See the controller's log."},
    Kind{"unimplemented", 501, "This controller cannot do that", ""},
    Kind{"too_many_connections", 503, "All connections of the controller are in use",
         "Close unused dashboards and streams, or try again shortly."},
    Kind{"unavailable", 503, "The controller cannot answer now", "Try again shortly."},
};

const Kind& KindOf(std::string_view code) {
  for (const Kind& kind : kProblemKinds) {
    if (kind.code == code) return kind;
  }
  return KindOf("internal");
}

std::string CodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return "invalid_argument";
    case absl::StatusCode::kNotFound:
      return "not_found";
    case absl::StatusCode::kAlreadyExists:
      return "already_exists";
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return "failed_precondition";
    case absl::StatusCode::kPermissionDenied:
      return "permission_denied";
    case absl::StatusCode::kUnauthenticated:
      return "unauthenticated";
    case absl::StatusCode::kResourceExhausted:
      return "resource_exhausted";
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return "unavailable";
    case absl::StatusCode::kUnimplemented:
      return "unimplemented";
    case absl::StatusCode::kDataLoss:
      return "data_loss";
    default:
      return "internal";
  }
}

}  // namespace

Response ProblemResponse(const std::string& code, const std::string& detail,
                         const std::string& instance) {
  const Kind& kind = KindOf(code);
  v1::Problem problem;
  problem.set_type("urn:trainyard:problem:" + std::string(kind.code));
  problem.set_title(std::string(kind.title));
  problem.set_status(kind.status);
  problem.set_code(std::string(kind.code));
  problem.set_detail(detail);
  problem.set_hint(std::string(kind.hint));
  problem.set_instance(instance);
  Response response{
      .status = kind.status, .content_type = "application/problem+json", .body = JsonText(problem)};
  response.cache_control = "no-store";
  if (kind.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (kind.status == 429 || kind.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response ProblemResponse(const absl::Status& status, const std::string& instance) {
  return ProblemResponse(CodeOf(status.code()), Text(status), instance);
}

}  // namespace trainyard::controller::http
