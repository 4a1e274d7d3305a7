// The one table of the HTTP interface: the router, openapi.json and the tests are all made from it.
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
  // kEnum: full name of the proto enum, or the words themselves, separated by commas.
  std::string_view values = "";
  // Several values, separated by commas.
  bool list = false;
  // May be given several times, one value each, which may hold commas.
  bool repeated = false;
  bool in_path = false;
  // Bounds of numbers; equal ones are none.
  double min = 0;
  double max = 0;
};

struct Route {
  Operation operation;
  // Stable name, in lower camel case, as generated clients call it.
  std::string_view id;
  std::string_view method;
  // Below kApiPrefix, such as "/jobs/{job}".
  std::string_view path;
  std::string_view summary;
  // The same on a command line; empty when there is none.
  std::string_view command_line;
  std::vector<Parameter> parameters;
  // Names of messages of trainyard.v1; empty for none.
  std::string_view request = "";
  // Name of the answer's message; empty when the answer is of `content_type` instead.
  std::string_view response = "";
  // Content type besides application/json, or instead of it when there is no response message.
  std::string_view content_type = "";
  // Fields of `request` that the path or the controller gives already, separated by commas.
  std::string_view said_by_path = "";
};

// In the order of the document.
const std::vector<Route>& Routes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
