#include "controller/http/rest.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/access/gate.h"
#include "controller/access/permissions.h"
#include "controller/api/deletion/deletion.h"
#include "controller/api/jobs/array_handlers.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/api/jobs/job_list.h"
#include "controller/api/jobs/lineage.h"
#include "controller/api/records/data_report.h"
#include "controller/api/records/experts.h"
#include "controller/api/records/log_pages.h"
#include "controller/api/records/loss_curve.h"
#include "controller/api/records/series.h"
#include "controller/http/body.h"
#include "controller/http/login.h"
#include "controller/http/parameter_requests.h"
#include "controller/http/plain_answers.h"
#include "controller/http/problem.h"
#include "controller/http/rest_call.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/json/json_text.h"

namespace trainyard::controller::http {

namespace {

constexpr std::string_view kJson = "application/json";

bool IsJson(const std::string& content_type) {
  return content_type.substr(0, content_type.find(';')) == kJson;
}

absl::StatusOr<v1::ReadLogPageRequest> LogRequest(const Parameters& parameters) {
  v1::ReadLogPageRequest request;
  request.set_job(parameters.Text("job"));
  const auto ranks = ParseRanks(parameters.Text("ranks"));
  if (!ranks.ok()) return ranks.status();
  for (const int rank : *ranks) request.add_ranks(rank);
  request.set_attempt(parameters.Integer("attempt"));
  request.set_grep(parameters.Text("grep"));
  request.set_ignore_case(parameters.Boolean("ignore_case"));
  request.set_regex(parameters.Boolean("regex"));
  request.set_min_level(EnumOf<v1::LogLevel>(parameters.Text("level")));
  request.set_limit(static_cast<int>(parameters.Integer("limit")));
  request.set_cursor(parameters.Text("cursor"));
  request.set_direction(EnumOf<v1::LogDirection>(parameters.Text("direction")));
  if (parameters.Has("offset")) request.set_offset(parameters.Integer("offset"));
  if (parameters.Has("time")) request.set_time_ms(parameters.Integer("time"));
  return request;
}

}  // namespace

void Rest::Handle(Request request, Respond respond) {
  const auto [path, query] = SplitTarget(request.target);
  const std::string instance(path);
  auto match = MatchRoute(request.method, path.substr(kApiPrefix.size()));
  const bool is_known = match.ok() && match->route != nullptr;
  if (!MayUseRoute(request.role, is_known ? match->route->id : "")) {
    return respond(ProblemResponse("unauthenticated", kHowToComeIn, instance));
  }
  if (!match.ok()) return respond(ProblemResponse(match.status(), instance));
  if (match->route == nullptr && match->other_methods.empty()) {
    return respond(
        ProblemResponse("no_such_path", absl::StrCat("there is no ", instance), instance));
  }
  if (match->route == nullptr) {
    Response response =
        ProblemResponse("method_not_allowed",
                        absl::StrCat(request.method, " is not supported by ", instance), instance);
    std::set<std::string> allowed(match->other_methods.begin(), match->other_methods.end());
    if (allowed.contains("GET")) allowed.insert("HEAD");
    response.headers.emplace_back("Allow", absl::StrJoin(allowed, ", "));
    return respond(std::move(response));
  }
  const absl::Status status = AddQuery(query, *match->route, match->parameters);
  if (!status.ok()) return respond(ProblemResponse(status, instance));
  if (!request.body.empty() && !IsJson(request.content_type)) {
    return respond(ProblemResponse("unsupported_media_type",
                                   absl::StrCat("Content-Type is `", request.content_type, "`"),
                                   instance));
  }
  Run({match->route, std::move(match->parameters),
       std::make_shared<const Request>(std::move(request)), instance, std::move(respond)});
}

void Rest::Run(const RestCall& call) {
  switch (call.route->operation) {
    case Operation::kGetOpenApi:
      return call.respond({.body = std::string(assets_.OpenApi())});
    case Operation::kGetJobSchema:
      return call.respond(
          {.content_type = "application/schema+json", .body = JobFileSchema().dump(1)});
    case Operation::kStreamEvents:
      return StreamEvents(call);
    case Operation::kListJobs:
      return call.Ask(api_, handlers::ListJobs, ListRequest(call.parameters),
                      RespondJson<v1::ListJobsResponse>(api_, call.respond, call.path,
                                                        FieldsOf(call.parameters, "jobs")));
    case Operation::kSubmitJob: {
      auto request = ReadSubmitBody(call.request->body);
      if (!request.ok()) return call.Refuse(request.status());
      return call.AskAs(request->user(), api_, handlers::SubmitJob, *std::move(request),
                        RespondJson<v1::SubmitJobResponse>(api_, call.respond, call.path));
    }
    case Operation::kPlanJob: {
      std::vector<v1::Origin> origins;
      auto request = ReadPlanBody(call.request->body, origins);
      if (!request.ok()) return call.Refuse(request.status());
      const v1::JobSpec spec = request->spec();
      return call.Ask(
          api_, handlers::PlanJob, *std::move(request),
          RespondWith<v1::PlanJobResponse>(
              api_, call.respond, call.path, [spec, origins](v1::PlanJobResponse response) {
                // If the request contained a job file, `origins` is empty and the handler has
                // already set the spec and its origins.
                if (!origins.empty()) {
                  *response.mutable_spec() = spec;
                  response.mutable_origins()->Assign(origins.begin(), origins.end());
                }
                return Response{.body = JsonText(response)};
              }));
    }
    case Operation::kListReservations:
    case Operation::kCreateReservation:
    case Operation::kDeleteReservation:
      return RunAboutReservations(call);
    default:
      return call.parameters.Has("job") ? RunAboutJob(call) : RunAboutCluster(call);
  }
}

// Handles a user's request to stop, pause, resume, extend or annotate a job. The answer shows the
// job after the change.
void Rest::ChangeJob(const RestCall& call) {
  const auto handle = [&]<typename Response>(auto request, const auto& handler) {
    if (!request.ok()) return call.Refuse(request.status());
    request->set_job(call.parameters.Text("job"));
    call.AskAs(request->user(), api_, handler, *request,
               RespondJson<Response>(api_, call.respond, call.path, {}));
  };
  const std::string& body = call.request->body;
  switch (call.route->operation) {
    case Operation::kPauseJob:
      return handle.operator()<v1::PauseJobResponse>(ReadPauseBody(body), handlers::PauseJob);
    case Operation::kResumeJob:
      return handle.operator()<v1::ResumeJobResponse>(ReadResumeBody(body), handlers::ResumeJob);
    case Operation::kExtendJob:
      return handle.operator()<v1::ExtendJobResponse>(ReadExtendBody(body), handlers::ExtendJob);
    case Operation::kWriteNote:
      return handle.operator()<v1::WriteNoteResponse>(ReadNoteBody(body), handlers::WriteNote);
    case Operation::kMoveJob:
      return handle.operator()<v1::MoveJobResponse>(ReadMoveBody(body), handlers::MoveJob);
    case Operation::kDeleteNote:
      return handle.operator()<v1::DeleteNoteResponse>(NoteDeletion(call.parameters),
                                                       handlers::DeleteNote);
    default:
      auto stop = ReadStopBody(body);
      if (stop.ok()) stop->set_kill(call.route->operation == Operation::kKillJob);
      return handle.operator()<v1::StopJobResponse>(std::move(stop), handlers::StopJob);
  }
}

void Rest::RunAboutJob(const RestCall& call) {
  const std::string job = call.parameters.Text("job");
  const auto json = [&]<typename Message>(ElementFields only) {
    return RespondJson<Message>(api_, call.respond, call.path, std::move(only));
  };
  // Sets the job of a request that has no other field.
  const auto of_job = [&]<typename Request>(Request request) {
    request.set_job(job);
    return request;
  };
  switch (call.route->operation) {
    case Operation::kGetJob:
      return call.Ask(api_, handlers::GetJob, of_job(v1::GetJobRequest()),
                      json.operator()<v1::GetJobResponse>({}));
    case Operation::kGetLineage:
      return call.Ask(api_, handlers::GetLineage, of_job(v1::GetLineageRequest()),
                      json.operator()<v1::GetLineageResponse>({}));
    case Operation::kGetArray:
      return call.Ask(api_, handlers::GetArray, ArrayRequest(call.parameters),
                      json.operator()<v1::GetArrayResponse>({}));
    case Operation::kWhyJob:
      return call.Ask(api_, handlers::WhyJob, of_job(v1::WhyJobRequest()),
                      json.operator()<v1::WhyJobResponse>({}));
    case Operation::kStopJob:
    case Operation::kKillJob:
    case Operation::kPauseJob:
    case Operation::kResumeJob:
    case Operation::kExtendJob:
    case Operation::kWriteNote:
    case Operation::kDeleteNote:
    case Operation::kMoveJob:
      return ChangeJob(call);
    case Operation::kDeleteJob:
      return DeleteJob(call);
    case Operation::kListJobEvents:
      return call.Ask(api_, handlers::ListEvents, EventsRequest(call.parameters),
                      json.operator()<v1::ListEventsResponse>({}));
    case Operation::kListMetricKeys:
      return call.Ask(api_, handlers::ListKeys, of_job(v1::ListKeysRequest()),
                      json.operator()<v1::ListKeysResponse>({}));
    case Operation::kGetSeries:
      return ReadSeries(call);
    case Operation::kGetLossReport:
      return call.Ask(api_, handlers::GetLossReport, of_job(v1::GetLossReportRequest()),
                      json.operator()<v1::GetLossReportResponse>({}));
    case Operation::kGetExperts:
      return call.Ask(api_, handlers::GetExperts, ExpertsRequest(call.parameters),
                      json.operator()<v1::GetExpertsResponse>({}));
    case Operation::kGetDataReport:
      return call.Ask(api_, handlers::GetDataReport, of_job(v1::GetDataReportRequest()),
                      json.operator()<v1::GetDataReportResponse>({}));
    case Operation::kListRanks:
      return call.Ask(api_, handlers::ListRanks, RanksRequest(call.parameters),
                      json.operator()<v1::ListRanksResponse>({}));
    case Operation::kReadLogs:
      return ReadLogs(call);
    default:
      return call.Refuse(absl::InternalError("a route without an operation"));
  }
}

void Rest::DeleteJob(const RestCall& call) {
  call.AskAs(call.parameters.Text("user"), api_, handlers::DeleteJob,
             DeleteRequest(call.parameters),
             RespondJson<v1::DeleteJobResponse>(api_, call.respond, call.path));
}

void Rest::ReadLogs(const RestCall& call) {
  auto request = LogRequest(call.parameters);
  if (!request.ok()) return call.Refuse(request.status());
  const std::string format = call.parameters.Text("format");
  if (format != "text" && format != "raw") {
    return call.Ask(api_, handlers::ReadLogPage, *std::move(request),
                    RespondJson<v1::ReadLogPageResponse>(api_, call.respond, call.path));
  }
  const auto lines = [raw = format == "raw"](const v1::ReadLogPageResponse& page) {
    return LogLines(page, raw);
  };
  call.Ask(api_, handlers::ReadLogPage, *std::move(request),
           RespondWith<v1::ReadLogPageResponse>(api_, call.respond, call.path, lines));
}

void Rest::ReadSeries(const RestCall& call) {
  ElementFields only = FieldsOf(call.parameters, "series");
  // Always include these fields, because they identify a series.
  if (!only.fields.empty()) only.fields.insert({"key", "attempt", "redone"});
  const bool csv = call.parameters.Text("format") == "csv";
  call.Ask(
      api_, handlers::GetSeries, SeriesRequest(call.parameters),
      csv ? RespondWith<v1::GetSeriesResponse>(api_, call.respond, call.path, SeriesCsv)
          : RespondJson<v1::GetSeriesResponse>(api_, call.respond, call.path, std::move(only)));
}

void Rest::StreamEvents(const RestCall& call) {
  auto topics = ParseTopics(call.parameters.List("topics"));
  if (!topics.ok()) return call.Refuse(topics.status());
  uint64_t last_event_id = static_cast<uint64_t>(call.parameters.Integer("last_event_id"));
  const std::string& header = call.request->last_event_id;
  if (!header.empty() && !absl::SimpleAtoi(header, &last_event_id)) {
    return call.Refuse(absl::InvalidArgumentError("Last-Event-ID: must be a number"));
  }
  if (call.request->method == "HEAD") {
    return call.respond({.content_type = "text/event-stream", .body = ""});
  }
  Response response;
  response.stream = [this, topics = *std::move(topics), last_event_id,
                     session = call.request->session_id](std::shared_ptr<StreamSink> sink) {
    feed_.Subscribe(topics, last_event_id, session, std::move(sink));
  };
  call.respond(std::move(response));
}

}  // namespace trainyard::controller::http
