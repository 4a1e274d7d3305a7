#include "controller/http/server_routes.h"

namespace trainyard::controller::http {

std::vector<Route> ServerRoutes() {
  return {{.operation = Operation::kGetServer,
           .id = "getServer",
           .method = "GET",
           .path = "/server",
           .summary = "Version, capabilities and storage of the controller, and the numbers of "
                      "jobs, nodes and slots.",
           .command_line = "trainyard server status",
           .response = "GetServerInfoResponse"},
          {.operation = Operation::kHandOver,
           .id = "handOver",
           .method = "POST",
           .path = "/server/hand-over",
           .summary = "Hands the leadership over to a standby. This controller then ends its "
                      "service, and its process exits.",
           .command_line = "trainyard server hand-over",
           .request = "HandOverRequest",
           .response = "HandOverResponse"},
          {.operation = Operation::kGetOpenApi,
           .id = "getOpenApi",
           .method = "GET",
           .path = "/openapi.json",
           .summary = "The OpenAPI description of this API.",
           .content_type = "application/json"},
          {.operation = Operation::kGetJobSchema,
           .id = "getJobSchema",
           .method = "GET",
           .path = "/job-schema.json",
           .summary = "JSON Schema of job files.",
           .command_line = "trainyard schema",
           .content_type = "application/schema+json"}};
}

std::vector<Route> SessionRoutes() {
  return {{.operation = Operation::kListSessions,
           .id = "listSessions",
           .method = "GET",
           .path = "/sessions",
           .summary = "Browsers logged in to the dashboard.",
           .command_line = "trainyard server sessions",
           .response = "ListSessionsResponse"},
          {.operation = Operation::kEndAllSessions,
           .id = "endAllSessions",
           .method = "DELETE",
           .path = "/sessions",
           .summary = "Ends all sessions of the dashboard.",
           .command_line = "trainyard server sessions --end-all",
           .response = "EndSessionsResponse"},
          {.operation = Operation::kEndSession,
           .id = "endSession",
           .method = "DELETE",
           .path = "/sessions/{session}",
           .summary = "Ends a dashboard session, as logging out does.",
           .command_line = "trainyard server sessions --end {session}",
           .parameters = {{.name = "session", .doc = "Id of the session.", .in_path = true}},
           .response = "EndSessionsResponse"}};
}

}  // namespace trainyard::controller::http
