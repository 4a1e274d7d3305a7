#include "controller/access/permissions.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

constexpr auto kPermissions = std::to_array<Permission>({
    // A caller must be able to verify the controller before it presents the token.
    {.method = "AccessService/Prove", .anonymous = true},
    {.method = "AccessService/CreateLoginCode"},
    {.method = "AccessService/WhoAmI"},
    {.method = "AccessService/ListSessions", .routes = {"listSessions"}},
    {.method = "AccessService/EndSessions", .routes = {"endSession", "endAllSessions"}},

    {.method = "JobService/SubmitJob", .routes = {"submitJob"}},
    {.method = "JobService/PlanJob", .routes = {"planJob"}},
    {.method = "JobService/ListJobs", .routes = {"listJobs"}},
    {.method = "JobService/GetJob", .routes = {"getJob"}},
    {.method = "JobService/StopJob", .routes = {"stopJob", "killJob"}},
    {.method = "JobService/PauseJob", .routes = {"pauseJob"}},
    {.method = "JobService/ResumeJob", .routes = {"resumeJob"}},
    {.method = "JobService/ExtendJob", .routes = {"extendJob"}},
    {.method = "JobService/WriteNote", .routes = {"writeNote"}},
    {.method = "JobService/DeleteNote", .routes = {"deleteNote"}},
    {.method = "JobService/DeleteJob", .routes = {"deleteJob"}},
    {.method = "JobService/GetLineage", .routes = {"getLineage"}},
    {.method = "JobService/GetArray", .routes = {"getArray"}},
    {.method = "JobService/WhyJob", .routes = {"whyJob"}},
    {.method = "JobService/WatchJob"},
    {.method = "JobService/ListEvents", .routes = {"listEvents", "listJobEvents"}},
    {.method = "JobService/ListRanks", .routes = {"listRanks"}},
    {.routes = {"streamEvents"}},
    {.routes = {"getJobSchema"}},
    {.routes = {"getOpenApi"}},

    {.method = "LogService/ReadLogs"},
    {.method = "LogService/ReadLogPage", .routes = {"readLogs"}},
    {.method = "MetricService/GetSeries", .routes = {"getSeries"}},
    {.method = "MetricService/ListKeys", .routes = {"listMetricKeys"}},
    {.method = "MetricService/GetLossReport", .routes = {"getLossReport"}},
    {.method = "MetricService/GetExperts", .routes = {"getExperts"}},
    {.method = "MetricService/GetDataReport", .routes = {"getDataReport"}},
    {.routes = {"compareSeries"}},
    {.method = "ReportService/GetReport", .routes = {"getReport"}},
    {.routes = {"getPlanner"}},
    {.routes = {"getRecipe"}},
    {.routes = {"planLayout"}},

    {.method = "QueueService/ListQueues", .routes = {"listQueues"}},
    {.method = "QueueService/SetQueue", .routes = {"setQueue"}},
    {.method = "QueueService/DeleteQueue", .routes = {"deleteQueue"}},
    {.method = "QueueService/MoveJob", .routes = {"moveJob"}},

    {.method = "NodeService/ListNodes", .routes = {"listNodes"}},
    {.method = "NodeService/GetNode", .routes = {"getNode"}},
    {.method = "NodeService/CordonNode", .routes = {"cordonNode", "uncordonNode", "drainNode"}},
    {.method = "NodeService/RemoveNode", .routes = {"removeNode"}},
    {.method = "NodeService/ReleaseNode", .routes = {"releaseNode"}},
    {.method = "NodeService/GetTopology", .routes = {"getTopology"}},
    {.method = "NodeService/SetTopology", .routes = {"setTopology"}},
    {.method = "NodeService/ListReservations", .routes = {"listReservations"}},
    {.method = "NodeService/CreateReservation", .routes = {"createReservation"}},
    {.method = "NodeService/DeleteReservation", .routes = {"deleteReservation"}},
    {.method = "NodeService/CheckNodes", .routes = {"checkNodes"}},
    {.method = "CodeService/FindMissingCode"},
    {.method = "CodeService/StoreCode"},
    {.method = "CodeService/FetchCode"},
    // Runs any command as the user of the worker, so a role may lack it even if it may submit jobs.
    {.method = "ExecService/Exec"},
    {.method = "ExecService/ServeExec"},
    {.method = "CodeService/FindCodeSource"},
    // Served by workers; the controller answers UNIMPLEMENTED.
    {.method = "CodePeerService/FetchSealedCode"},
    {.method = "ServerService/GetServerInfo", .routes = {"getServer"}},
    {.method = "ServerService/CheckStores"},
    {.method = "ServerService/HandOver", .routes = {"handOver"}},

    {.method = "WorkerControl/Attach"},
});

constexpr std::string_view kOwnPackage = "/trainyard.v1.";

// The permission of an operation without a row in the table.
constexpr Permission kOthers = {};

bool Permits(const Permission& row, Role role) {
  return role == Role::kOperator ? row.operators : row.anonymous;
}

template <typename Fits>
bool MayUse(Role role, Fits fits) {
  const auto row = std::ranges::find_if(kPermissions, fits);
  return Permits(row == kPermissions.end() ? kOthers : *row, role);
}

}  // namespace

std::span<const Permission> Permissions() { return kPermissions; }

bool MayCall(Role role, std::string_view path) {
  const bool is_own = path.starts_with(kOwnPackage);
  if (is_own) path.remove_prefix(kOwnPackage.size());
  return MayUse(role, [&](const Permission& row) { return is_own && row.method == path; });
}

bool MayUseRoute(Role role, std::string_view route_id) {
  return MayUse(role, [&](const Permission& row) {
    return !route_id.empty() && std::ranges::find(row.routes, route_id) != row.routes.end();
  });
}

}  // namespace trainyard::controller
