// Calls about nodes, queues, reservations, and the cluster as a whole.
#include <utility>

#include "controller/api/cluster/cluster_handlers.h"
#include "controller/api/cluster/hand_over.h"
#include "controller/api/cluster/node_view.h"
#include "controller/api/cluster/queue_handlers.h"
#include "controller/api/cluster/reservation_handlers.h"
#include "controller/api/cluster/session_handlers.h"
#include "controller/api/job_files/planner_handlers.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/api/records/report.h"
#include "controller/api/records/series.h"
#include "controller/http/body.h"
#include "controller/http/parameter_requests.h"
#include "controller/http/rest.h"
#include "controller/http/rest_call.h"

namespace trainyard::controller::http {

void Rest::CompareSeries(const RestCall& call) {
  ElementFields only = FieldsOf(call.parameters, "series");
  if (!only.fields.empty()) only.fields.insert({"key", "job_id"});
  call.Ask(api_, handlers::CompareSeries, CompareRequest(call.parameters),
           RespondJson<v1::CompareSeriesResponse>(api_, call.respond, call.path, std::move(only)));
}

void Rest::AskTopology(const RestCall& call) {
  if (call.route->operation == Operation::kGetTopology) {
    return call.Ask(api_, handlers::GetTopology,
                    RespondJson<v1::GetTopologyResponse>(api_, call.respond, call.path));
  }
  auto request = ReadTopologyBody(call.request->body);
  if (!request.ok()) return call.Refuse(request.status());
  call.AskAs(request->user(), api_, handlers::SetTopology, *request,
             RespondJson<v1::SetTopologyResponse>(api_, call.respond, call.path));
}

void Rest::GetNode(const RestCall& call) {
  v1::GetNodeRequest request;
  request.set_node(call.parameters.Text("node"));
  request.set_hours(static_cast<int32_t>(call.parameters.Integer("hours")));
  call.Ask(api_, handlers::GetNode, request,
           RespondJson<v1::GetNodeResponse>(api_, call.respond, call.path));
}

void Rest::RemoveNode(const RestCall& call) {
  v1::RemoveNodeRequest request;
  request.set_node(call.parameters.Text("node"));
  request.set_user(call.parameters.Text("user"));
  call.AskAs(request.user(), api_, handlers::RemoveNode, request,
             RespondJson<v1::RemoveNodeResponse>(api_, call.respond, call.path));
}

void Rest::EndSessions(const RestCall& call) {
  v1::EndSessionsRequest request;
  request.set_all(call.route->operation == Operation::kEndAllSessions);
  if (!request.all()) request.add_ids(call.parameters.Text("session"));
  call.Ask(api_, handlers::EndSessions, std::move(request),
           RespondJson<v1::EndSessionsResponse>(api_, call.respond, call.path));
}

void Rest::HandOver(const RestCall& call) {
  auto request = ReadHandOverBody(call.request->body);
  if (!request.ok()) return call.Refuse(request.status());
  call.AskAs(request->user(), api_, handlers::HandOver, *request,
             RespondJson<v1::HandOverResponse>(api_, call.respond, call.path));
}

void Rest::ReleaseNode(const RestCall& call) {
  auto request = ReadReleaseBody(call.request->body);
  if (!request.ok()) return call.Refuse(request.status());
  request->set_node(call.parameters.Text("node"));
  call.AskAs(request->user(), api_, handlers::ReleaseNode, *std::move(request),
             RespondJson<v1::ReleaseNodeResponse>(api_, call.respond, call.path));
}

void Rest::CordonNode(const RestCall& call) {
  const bool drains = call.route->operation == Operation::kDrainNode;
  auto request = drains ? ReadDrainBody(call.request->body) : ReadCordonBody(call.request->body);
  if (!request.ok()) return call.Refuse(request.status());
  request->set_node(call.parameters.Text("node"));
  request->set_cordoned(call.route->operation != Operation::kUncordonNode);
  call.AskAs(request->user(), api_, handlers::CordonNode, *std::move(request),
             RespondJson<v1::CordonNodeResponse>(api_, call.respond, call.path));
}

void Rest::RunAboutQueues(const RestCall& call) {
  const std::string name = call.parameters.Text("queue");
  if (call.route->operation == Operation::kDeleteQueue) {
    v1::DeleteQueueRequest request = QueueDeletion(call.parameters);
    return call.AskAs(request.user(), api_, handlers::DeleteQueue, request,
                      RespondJson<v1::DeleteQueueResponse>(api_, call.respond, call.path));
  }
  if (call.route->operation == Operation::kSetQueue) {
    auto request = ReadQueueBody(call.request->body);
    if (!request.ok()) return call.Refuse(request.status());
    request->mutable_queue()->set_name(name);
    return call.AskAs(request->user(), api_, handlers::SetQueue, *request,
                      RespondJson<v1::SetQueueResponse>(api_, call.respond, call.path));
  }
  call.Ask(api_, handlers::ListQueues, QueuesRequest(call.parameters),
           RespondJson<v1::ListQueuesResponse>(api_, call.respond, call.path));
}

void Rest::RunAboutNodes(const RestCall& call) {
  switch (call.route->operation) {
    case Operation::kListNodes:
      return call.Ask(api_, handlers::ListNodes,
                      RespondJson<v1::ListNodesResponse>(api_, call.respond, call.path,
                                                         FieldsOf(call.parameters, "nodes")));
    case Operation::kGetNode:
      return GetNode(call);
    case Operation::kGetTopology:
    case Operation::kSetTopology:
      return AskTopology(call);
    case Operation::kCordonNode:
    case Operation::kUncordonNode:
    case Operation::kDrainNode:
      return CordonNode(call);
    case Operation::kRemoveNode:
      return RemoveNode(call);
    case Operation::kReleaseNode:
      return ReleaseNode(call);
    default:
      return call.Refuse(absl::InternalError("a route without an operation"));
  }
}

void Rest::RunAboutReservations(const RestCall& call) {
  if (call.route->operation == Operation::kDeleteReservation) {
    v1::DeleteReservationRequest request = ReservationDeletion(call.parameters);
    return call.AskAs(request.user(), api_, handlers::DeleteReservation, request,
                      RespondJson<v1::DeleteReservationResponse>(api_, call.respond, call.path));
  }
  if (call.route->operation == Operation::kListReservations) {
    return call.Ask(api_, handlers::ListReservations,
                    RespondJson<v1::ListReservationsResponse>(api_, call.respond, call.path));
  }
  auto request = ReadReservationBody(call.request->body);
  if (!request.ok()) return call.Refuse(request.status());
  request->mutable_reservation()->set_name(call.parameters.Text("reservation"));
  call.AskAs(request->user(), api_, handlers::CreateReservation, *request,
             RespondJson<v1::CreateReservationResponse>(api_, call.respond, call.path));
}

void Rest::RunAboutCluster(const RestCall& call) {
  switch (call.route->operation) {
    case Operation::kGetServer:
      return call.Ask(api_, handlers::GetServerInfo,
                      RespondJson<v1::GetServerInfoResponse>(api_, call.respond, call.path));
    case Operation::kHandOver:
      return HandOver(call);
    case Operation::kListQueues:
    case Operation::kSetQueue:
    case Operation::kDeleteQueue:
      return RunAboutQueues(call);
    case Operation::kListSessions:
      return call.Ask(api_, handlers::ListSessions,
                      RespondJson<v1::ListSessionsResponse>(api_, call.respond, call.path));
    case Operation::kEndSession:
    case Operation::kEndAllSessions:
      return EndSessions(call);
    case Operation::kGetReport:
      return call.Ask(api_, handlers::GetReport, ReportRequest(call.parameters),
                      RespondJson<v1::GetReportResponse>(api_, call.respond, call.path));
    case Operation::kCheckNodes:
      return call.Ask(api_, handlers::CheckNodes,
                      RespondJson<v1::CheckNodesResponse>(api_, call.respond, call.path));
    case Operation::kGetPlanner:
      return call.Ask(api_, handlers::GetPlanner,
                      RespondJson<v1::GetPlannerResponse>(api_, call.respond, call.path));
    case Operation::kGetRecipe: {
      v1::GetRecipeRequest request;
      request.set_recipe(call.parameters.Text("recipe"));
      return call.Ask(api_, handlers::GetRecipe, std::move(request),
                      RespondJson<v1::GetRecipeResponse>(api_, call.respond, call.path));
    }
    case Operation::kPlanLayout: {
      auto request = ReadPlanLayoutBody(call.request->body);
      if (!request.ok()) return call.Refuse(request.status());
      return call.Ask(api_, handlers::PlanLayout, *std::move(request),
                      RespondJson<v1::PlanLayoutResponse>(api_, call.respond, call.path));
    }
    case Operation::kCompareSeries:
      return CompareSeries(call);
    case Operation::kListEvents:
      return call.Ask(api_, handlers::ListEvents, EventsRequest(call.parameters),
                      RespondJson<v1::ListEventsResponse>(api_, call.respond, call.path));
    default:
      return RunAboutNodes(call);
  }
}

}  // namespace trainyard::controller::http
