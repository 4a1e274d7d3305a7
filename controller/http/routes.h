// The route table, the single source of the router, openapi.json and the tests.
#ifndef TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_ROUTES_H_

#include <string_view>
#include <vector>

#include "controller/http/parameter.h"

namespace trainyard::controller::http {

inline constexpr std::string_view kApiPrefix = "/api/v1";

enum class Operation {
  kGetServer,
  kGetOpenApi,
  kGetJobSchema,
  kListJobs,
  kSubmitJob,
  kPlanJob,
  kGetPlanner,
  kPlanLayout,
  kGetJob,
  kWhyJob,
  kStopJob,
  kKillJob,
  kPauseJob,
  kResumeJob,
  kDeleteJob,
  kListJobEvents,
  kListMetricKeys,
  kGetSeries,
  kGetLossReport,
  kCompareSeries,
  kListRanks,
  kReadLogs,
  kListNodes,
  kCordonNode,
  kUncordonNode,
  kRemoveNode,
  kReleaseNode,
  kListSessions,
  kEndSession,
  kEndAllSessions,
  kCheckNodes,
  kGetReport,
  kListEvents,
  kStreamEvents,
};

struct Route {
  Operation operation;
  // Stable name in lower camel case, used by generated clients.
  std::string_view id;
  std::string_view method;
  // Below kApiPrefix, such as "/jobs/{job}".
  std::string_view path;
  std::string_view summary;
  // Equivalent command line; empty if there is none.
  std::string_view command_line;
  std::vector<Parameter> parameters;
  // Name of the request message in trainyard.v1; empty if there is none.
  std::string_view request = "";
  // Name of the response message; empty if the answer has `content_type` instead.
  std::string_view response = "";
  // Content type in addition to application/json, or instead of it if there is no response message.
  std::string_view content_type = "";
  // Fields of `request` already given by the path or the controller, separated by commas.
  std::string_view given_fields = "";
};

// In the order of the OpenAPI document.
const std::vector<Route>& Routes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
