// The route table, the single source of the router, openapi.json and the tests.
#ifndef TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_ROUTES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

enum class ParameterType { kText, kInteger, kNumber, kBoolean, kEnum };

struct Parameter {
  std::string_view name;
  ParameterType type = ParameterType::kText;
  std::string_view doc;
  // kEnum: full name of the proto enum, or the values themselves, separated by commas.
  std::string_view values = "";
  // Accepts several values, separated by commas.
  bool list = false;
  // May be given several times, with one value each, which may contain commas.
  bool repeated = false;
  bool in_path = false;
  // Bounds of numbers; equal bounds mean no bounds.
  double min = 0;
  double max = 0;
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
