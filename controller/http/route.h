// A row of the route table.
#ifndef TRAINYARD_CONTROLLER_HTTP_ROUTE_H_
#define TRAINYARD_CONTROLLER_HTTP_ROUTE_H_

#include <string_view>
#include <vector>

#include "controller/http/parameter.h"

namespace trainyard::controller::http {

inline constexpr std::string_view kApiPrefix = "/api/v1";

enum class Operation {
  kGetServer,
  kHandOver,
  kGetOpenApi,
  kGetJobSchema,
  kListJobs,
  kSubmitJob,
  kPlanJob,
  kGetPlanner,
  kGetRecipe,
  kPlanLayout,
  kGetJob,
  kGetLineage,
  kGetArray,
  kWhyJob,
  kStopJob,
  kKillJob,
  kPauseJob,
  kResumeJob,
  kExtendJob,
  kWriteNote,
  kDeleteNote,
  kDeleteJob,
  kListJobEvents,
  kListMetricKeys,
  kGetSeries,
  kGetLossReport,
  kGetExperts,
  kGetDataReport,
  kCompareSeries,
  kListRanks,
  kReadLogs,
  kListNodes,
  kGetNode,
  kListQueues,
  kSetQueue,
  kDeleteQueue,
  kMoveJob,
  kCordonNode,
  kUncordonNode,
  kDrainNode,
  kRemoveNode,
  kReleaseNode,
  kGetTopology,
  kSetTopology,
  kListReservations,
  kCreateReservation,
  kDeleteReservation,
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
  // A name in lower camel case. The name must not change, because generated clients use it.
  std::string_view id;
  std::string_view method;
  // The path below kApiPrefix, such as "/jobs/{job}".
  std::string_view path;
  std::string_view summary;
  // The equivalent command line. Empty if the route has none.
  std::string_view command_line;
  std::vector<Parameter> parameters;
  // The name of the request message in trainyard.v1. Empty if there is none.
  std::string_view request = "";
  // The name of the response message. Empty if the response is not a message but has
  // `content_type`.
  std::string_view response = "";
  // If there is a response message, a content type that is available in addition to
  // application/json. Otherwise the only content type.
  std::string_view content_type = "";
  // Fields of `request`, separated by commas, whose values come from the path or the controller
  // instead of the body.
  std::string_view given_fields = "";
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ROUTE_H_
