#include "controller/http/routes.h"

#include "controller/http/queue_routes.h"
#include "controller/http/reservation_routes.h"
#include "controller/http/route_parameters.h"
#include "controller/http/server_routes.h"
#include "controller/http/topology_routes.h"

namespace trainyard::controller::http {
namespace {

using enum ParameterType;

std::vector<Route> SubmitRoutes() {
  return {{.operation = Operation::kListJobs,
           .id = "listJobs",
           .method = "GET",
           .path = "/jobs",
           .summary = "Jobs, with the newest attempt of each.",
           .command_line = "trainyard ps",
           .parameters = JobListParameters(),
           .response = "ListJobsResponse"},
          {.operation = Operation::kSubmitJob,
           .id = "submitJob",
           .method = "POST",
           .path = "/jobs",
           .summary = "Submits a job that is given as a spec or as the text of a job file. In both "
                      "cases, the rules of job files apply, and defaults are filled in.",
           .command_line = "trainyard submit JOB.yaml",
           .request = "SubmitJobRequest",
           .response = "SubmitJobResponse"},
          {.operation = Operation::kPlanJob,
           .id = "planJob",
           .method = "POST",
           .path = "/plan",
           .summary = "The resolved spec and the placement of a job, without submitting it.",
           .command_line = "trainyard plan JOB.yaml",
           .request = "PlanJobRequest",
           .response = "PlanJobResponse"}};
}

std::vector<Route> PlannerRoutes() {
  return {
      {.operation = Operation::kGetPlanner,
       .id = "getPlanner",
       .method = "GET",
       .path = "/planner",
       .summary = "Recipes, devices, networks and nodes that a plan can use.",
       .command_line = "trainyard recipe list",
       .response = "GetPlannerResponse"},
      {.operation = Operation::kGetRecipe,
       .id = "getRecipe",
       .method = "GET",
       .path = "/recipes/{recipe}",
       .summary = "Text of a recipe, from which a job file can be written.",
       .command_line = "trainyard recipe show {recipe}",
       .parameters = {{.name = "recipe", .doc = "Name of the recipe.", .in_path = true}},
       .response = "GetRecipeResponse"},
      {.operation = Operation::kPlanLayout,
       .id = "planLayout",
       .method = "POST",
       .path = "/planner",
       .summary = "The best layout of a recipe or job file on a hypothetical cluster: ranks, "
                  "memory, step time, days and cost. If no layout fits, `problem` states what is "
                  "missing, and `fewest_nodes` is the smallest number of nodes that suffices.",
       .command_line = "trainyard plan JOB.yaml --nodes 8 --device H100",
       .request = "PlanLayoutRequest",
       .response = "PlanLayoutResponse"}};
}

std::vector<Parameter> DeleteParameters() {
  return {
      JobInPath(),
      {.name = "confirmed",
       .type = kBoolean,
       .doc = "Confirms the deletion. Without confirmation, nothing is deleted."},
      {.name = "checkpoints",
       .type = kBoolean,
       .doc = "Removes the checkpoints of the job, too, as far as the controller can access them."},
      {.name = "user", .doc = "User who deletes the job."}};
}

// Returns the routes with which users change a job that has not ended.
std::vector<Route> JobChangeRoutes() {
  return {{.operation = Operation::kStopJob,
           .id = "stopJob",
           .method = "POST",
           .path = "/jobs/{job}/stop",
           .summary = "Saves a checkpoint, then stops the job.",
           .command_line = "trainyard stop {job}",
           .parameters = {JobInPath()},
           .request = "StopJobRequest",
           .response = "StopJobResponse",
           .given_fields = "job,kill"},
          {.operation = Operation::kKillJob,
           .id = "killJob",
           .method = "POST",
           .path = "/jobs/{job}/kill",
           .summary = "Ends the job immediately, without a checkpoint.",
           .command_line = "trainyard kill {job}",
           .parameters = {JobInPath()},
           .request = "StopJobRequest",
           .response = "StopJobResponse",
           .given_fields = "job,kill"},
          {.operation = Operation::kPauseJob,
           .id = "pauseJob",
           .method = "POST",
           .path = "/jobs/{job}/pause",
           .summary = "Saves a checkpoint, then releases the job's slots until the job is resumed. "
                      "A job that has not started is held: it is not placed until it is resumed.",
           .command_line = "trainyard pause {job}",
           .parameters = {JobInPath()},
           .request = "PauseJobRequest",
           .response = "PauseJobResponse",
           .given_fields = "job"},
          {.operation = Operation::kResumeJob,
           .id = "resumeJob",
           .method = "POST",
           .path = "/jobs/{job}/resume",
           .summary = "Returns a paused or held job to the queue.",
           .command_line = "trainyard resume {job}",
           .parameters = {JobInPath()},
           .request = "ResumeJobRequest",
           .response = "ResumeJobResponse",
           .given_fields = "job"},
          {.operation = Operation::kExtendJob,
           .id = "extendJob",
           .method = "POST",
           .path = "/jobs/{job}/extend",
           .summary = "Adds time, such as 2h, to the job's time limit.",
           .command_line = "trainyard extend {job} {by}",
           .parameters = {JobInPath()},
           .request = "ExtendJobRequest",
           .response = "ExtendJobResponse",
           .given_fields = "job"}};
}

std::vector<Route> NoteRoutes() {
  return {{.operation = Operation::kWriteNote,
           .id = "writeNote",
           .method = "POST",
           .path = "/jobs/{job}/notes",
           .summary = "Adds a user's note to a step of the job.",
           .command_line = "trainyard note {job} TEXT",
           .parameters = {JobInPath()},
           .request = "WriteNoteRequest",
           .response = "WriteNoteResponse",
           .given_fields = "job"},
          {.operation = Operation::kDeleteNote,
           .id = "deleteNote",
           .method = "DELETE",
           .path = "/jobs/{job}/notes/{note}",
           .summary = "Deletes a note that the user wrote.",
           .command_line = "trainyard note {job} --delete {note}",
           .parameters = {JobInPath(),
                          {.name = "note", .doc = "Number of the note.", .in_path = true},
                          {.name = "user", .doc = "User who deletes the note."}},
           .response = "DeleteNoteResponse"}};
}

std::vector<Route> JobRoutes() {
  return {
      {.operation = Operation::kGetJob,
       .id = "getJob",
       .method = "GET",
       .path = "/jobs/{job}",
       .summary = "A job in detail.",
       .command_line = "trainyard describe {job}",
       .parameters = {JobInPath()},
       .response = "GetJobResponse"},
      {.operation = Operation::kGetLineage,
       .id = "getLineage",
       .method = "GET",
       .path = "/jobs/{job}/lineage",
       .summary = "The jobs from which a job was resumed or cloned, and those that were resumed "
                  "or cloned from it.",
       .command_line = "trainyard describe {job}",
       .parameters = {JobInPath()},
       .response = "GetLineageResponse"},
      {.operation = Operation::kGetArray,
       .id = "getArray",
       .method = "GET",
       .path = "/jobs/{job}/array",
       .summary = "Elements of an array, with their settings and results.",
       .command_line = "trainyard array {job}",
       .parameters = ArrayParameters(),
       .response = "GetArrayResponse"},
      {.operation = Operation::kWhyJob,
       .id = "whyJob",
       .method = "GET",
       .path = "/jobs/{job}/why",
       .summary = "Why a job waits, or why it ended.",
       .command_line = "trainyard why {job}",
       .parameters = {JobInPath()},
       .response = "WhyJobResponse"},
      {.operation = Operation::kDeleteJob,
       .id = "deleteJob",
       .method = "DELETE",
       .path = "/jobs/{job}",
       .summary = "Removes an ended job with its events, metrics and output; without "
                  "confirmation, lists what would be removed.",
       .command_line = "trainyard delete {job}",
       .parameters = DeleteParameters(),
       .response = "DeleteJobResponse"}};
}

std::vector<Route> CurveRoutes() {
  return {{.operation = Operation::kListMetricKeys,
           .id = "listMetricKeys",
           .method = "GET",
           .path = "/jobs/{job}/metrics",
           .summary = "Names of the job's series.",
           .parameters = {JobInPath()},
           .response = "ListKeysResponse"},
          {.operation = Operation::kGetSeries,
           .id = "getSeries",
           .method = "GET",
           .path = "/jobs/{job}/series",
           .summary = "Metric series, downsampled without losing spikes.",
           .command_line = "trainyard metrics {job}",
           .parameters = SeriesParameters(),
           .response = "GetSeriesResponse",
           .content_type = "text/csv"},
          {.operation = Operation::kGetLossReport,
           .id = "getLossReport",
           .method = "GET",
           .path = "/jobs/{job}/loss",
           .summary = "Trend and spikes of the loss.",
           .command_line = "trainyard report {job}",
           .parameters = {JobInPath()},
           .response = "GetLossReportResponse"},
          {.operation = Operation::kGetExperts,
           .id = "getExperts",
           .method = "GET",
           .path = "/jobs/{job}/experts",
           .summary = "Load of the experts of each layer at one step.",
           .command_line = "trainyard experts {job}",
           .parameters = ExpertsParameters(),
           .response = "GetExpertsResponse"},
          {.operation = Operation::kGetDataReport,
           .id = "getDataReport",
           .method = "GET",
           .path = "/jobs/{job}/data",
           .summary = "Newest report on data sets: those that a data job makes or a job trains on.",
           .command_line = "trainyard dataset {job}",
           .parameters = {JobInPath()},
           .response = "GetDataReportResponse"},
          {.operation = Operation::kCompareSeries,
           .id = "compareSeries",
           .method = "GET",
           .path = "/series",
           .summary = "Metric series of several jobs, for comparison.",
           .parameters = CompareParameters(),
           .response = "CompareSeriesResponse"}};
}

std::vector<Route> JobDetailRoutes() {
  return {
      {.operation = Operation::kListJobEvents,
       .id = "listJobEvents",
       .method = "GET",
       .path = "/jobs/{job}/events",
       .summary = "Durable events of a job, newest first.",
       .command_line = "trainyard describe {job}",
       .parameters = {JobInPath(), Limit(1000, "Maximum number of events per page (default: 100)."),
                      Cursor()},
       .response = "ListEventsResponse"},
      {.operation = Operation::kListRanks,
       .id = "listRanks",
       .method = "GET",
       .path = "/jobs/{job}/ranks",
       .summary = "Current activity of each rank of an attempt, and its place in the layout.",
       .parameters = {JobInPath(),
                      {.name = "attempt",
                       .type = kInteger,
                       .doc = "Number of the attempt (default: the newest).",
                       .min = 1,
                       .max = kLargest}},
       .response = "ListRanksResponse"},
      {.operation = Operation::kReadLogs,
       .id = "readLogs",
       .method = "GET",
       .path = "/jobs/{job}/logs",
       .summary = "A page of the ranks' output.",
       .command_line = "trainyard logs {job}",
       .parameters = LogParameters(),
       .response = "ReadLogPageResponse",
       .content_type = "text/plain"}};
}

std::vector<Parameter> ReportParameters() {
  return {{.name = "by",
           .type = kEnum,
           .doc = "Property by which the jobs are grouped (default: `cluster`).",
           .values = "trainyard.v1.ReportBy"},
          {.name = "since",
           .type = kInteger,
           .doc = "Start of the reported period, Unix milliseconds (default: no limit).",
           .max = kLargest},
          {.name = "until",
           .type = kInteger,
           .doc = "End of the reported period, Unix milliseconds (default: now).",
           .max = kLargest},
          {.name = "user", .doc = "Only jobs of this user."},
          {.name = "job_id",
           .type = kInteger,
           .doc = "Only the job with this number.",
           .max = kLargest},
          Limit(1000, "Maximum number of groups (default: 100).")};
}

std::vector<Route> NodeRoutes() {
  return {{.operation = Operation::kListNodes,
           .id = "listNodes",
           .method = "GET",
           .path = "/nodes",
           .summary = "Nodes, their slots, and the jobs that use them.",
           .command_line = "trainyard nodes",
           .parameters = {Fields(kListFields)},
           .response = "ListNodesResponse"},
          {.operation = Operation::kGetNode,
           .id = "getNode",
           .method = "GET",
           .path = "/nodes/{node}",
           .summary = "A node with its newest attempts and the history of its GPUs.",
           .parameters = {NodeInPath(), HistoryHours()},
           .response = "GetNodeResponse"}};
}

std::vector<Route> NodeChangeRoutes() {
  return {
      {.operation = Operation::kCordonNode,
       .id = "cordonNode",
       .method = "POST",
       .path = "/nodes/{node}/cordon",
       .summary = "Keeps new ranks off a node. Ranks that already run on the node continue.",
       .command_line = "trainyard node cordon {node}",
       .parameters = {NodeInPath()},
       .request = "CordonNodeRequest",
       .response = "CordonNodeResponse",
       .given_fields = "node,cordoned,drain_after_ms"},
      {.operation = Operation::kUncordonNode,
       .id = "uncordonNode",
       .method = "POST",
       .path = "/nodes/{node}/uncordon",
       .summary = "Allows new ranks on a node again. This also ends a drain.",
       .command_line = "trainyard node uncordon {node}",
       .parameters = {NodeInPath()},
       .request = "CordonNodeRequest",
       .response = "CordonNodeResponse",
       .given_fields = "node,cordoned,drain_after_ms"},
      {.operation = Operation::kDrainNode,
       .id = "drainNode",
       .method = "POST",
       .path = "/nodes/{node}/drain",
       .summary = "Drains a node. No new ranks are placed on it, and the jobs on it save and move "
                  "after drain_after_ms at the latest.",
       .command_line = "trainyard node drain {node}",
       .parameters = {NodeInPath()},
       .request = "CordonNodeRequest",
       .response = "CordonNodeResponse",
       .given_fields = "node,cordoned"},
      {.operation = Operation::kRemoveNode,
       .id = "removeNode",
       .method = "DELETE",
       .path = "/nodes/{node}",
       .summary = "Removes a lost node.",
       .command_line = "trainyard node remove {node}",
       .parameters = {NodeInPath(), {.name = "user", .doc = "User who removes the node."}},
       .response = "RemoveNodeResponse"},
      {.operation = Operation::kReleaseNode,
       .id = "releaseNode",
       .method = "POST",
       .path = "/nodes/{node}/release",
       .summary = "Ends the quarantine of a node, or the wait that follows failed starts on the "
                  "node.",
       .command_line = "trainyard node release {node}",
       .parameters = {NodeInPath()},
       .request = "ReleaseNodeRequest",
       .response = "ReleaseNodeResponse",
       .given_fields = "node"}};
}

std::vector<Route> ReportRoutes() {
  return {{.operation = Operation::kGetReport,
           .id = "getReport",
           .method = "GET",
           .path = "/report",
           .summary = "Job time by phase, grouped by user, job, week or cluster.",
           .command_line = "trainyard report --by user",
           .parameters = ReportParameters(),
           .response = "GetReportResponse"},
          {.operation = Operation::kCheckNodes,
           .id = "checkNodes",
           .method = "GET",
           .path = "/checks",
           .summary = "Results of the newest checks of each node and of the controller.",
           .command_line = "trainyard doctor",
           .response = "CheckNodesResponse"}};
}

std::vector<Route> EventRoutes() {
  return {
      {.operation = Operation::kListEvents,
       .id = "listEvents",
       .method = "GET",
       .path = "/events",
       .summary = "Durable events of all jobs and nodes, newest first.",
       .parameters = {Limit(1000, "Maximum number of events per page (default: 100)."), Cursor()},
       .response = "ListEventsResponse"},
      {.operation = Operation::kStreamEvents,
       .id = "streamEvents",
       .method = "GET",
       .path = "/events/stream",
       .summary = "Server-sent events. The name of an event is the name of a field of StreamEvent, "
                  "its data is the JSON of that field, and its id is the revision of the store. A "
                  "client that reconnects with Last-Event-ID receives the changes since that "
                  "event. A comment is sent every 15 s. A client that is too slow is disconnected; "
                  "it can reconnect with Last-Event-ID.",
       .parameters = StreamParameters(),
       .response = "StreamEvent",
       .content_type = "text/event-stream"}};
}

std::vector<Route> AllRoutes() {
  std::vector<Route> all;
  for (auto part : {ServerRoutes(), SubmitRoutes(), PlannerRoutes(), JobRoutes(), JobChangeRoutes(),
                    NoteRoutes(), QueueRoutes(), ReservationRoutes(), CurveRoutes(),
                    JobDetailRoutes(), NodeRoutes(), NodeChangeRoutes(), TopologyRoutes(),
                    SessionRoutes(), ReportRoutes(), EventRoutes()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = AllRoutes();
  return routes;
}

}  // namespace trainyard::controller::http
