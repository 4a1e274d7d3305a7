#include "cli/client/client.h"

#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "grpcpp/grpcpp.h"
#include "proto/access/channel.h"
#include "proto/access/dial.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"
#include "trainyard/v1/access_service.grpc.pb.h"
#include "trainyard/v1/code_service.grpc.pb.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/log_service.grpc.pb.h"
#include "trainyard/v1/metric_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"
#include "trainyard/v1/queue_service.grpc.pb.h"
#include "trainyard/v1/report_service.grpc.pb.h"

namespace trainyard::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// One message may contain a whole metric series.
constexpr int kMaxMessageBytes = 256 << 20;
// Must be at least the controller's minimum (controller/rpc/server.cpp), because the controller
// closes connections with more frequent keepalives.
constexpr int kKeepaliveTimeMs = 10000;
constexpr milliseconds kPauseBetweenAttempts{500};
constexpr int kTriesOfSeveral = 4;

grpc::ChannelArguments ChannelArguments() {
  grpc::ChannelArguments arguments;
  // HTTP proxies are meant for browsers. A controller is never reached through a proxy.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Detects the loss of the controller's machine, even on a stream that has no messages for hours.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return arguments;
}

// Half of the pause is random, so that many clients do not call a new leader at the same moment.
milliseconds PauseBetweenRounds() {
  static std::minstd_rand random(std::random_device{}());
  return milliseconds(std::uniform_int_distribution<int>(50, 100)(random));
}

absl::string_view FirstLine(absl::string_view text) { return text.substr(0, text.find('\n')); }

// Returns OK if a process accepts connections at the address. Sends no data.
absl::Status Answers(const std::string& server, milliseconds limit) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, ResolveAddress(server));
  absl::Status status = absl::UnavailableError("the host name does not resolve to an address");
  for (const std::string& address : addresses) {
    status = Dial(address, std::chrono::steady_clock::now() + limit).status();
    if (status.ok()) break;
  }
  return status;
}

// True if the controller ended before its answer. A server that shuts down cancels its open calls,
// for example at a hand-over; this client never cancels such a call.
bool ControllerHasEnded(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

}  // namespace

struct Client::Connection {
  explicit Connection(std::shared_ptr<grpc::Channel> made)
      : channel(std::move(made)),
        jobs(channel),
        nodes(channel),
        queues(channel),
        servers(channel),
        logs(channel),
        metrics(channel),
        access(channel),
        reports(channel),
        code(channel),
        exec(channel) {}

  std::shared_ptr<grpc::Channel> channel;
  v1::JobService::Stub jobs;
  v1::NodeService::Stub nodes;
  v1::QueueService::Stub queues;
  v1::ServerService::Stub servers;
  v1::LogService::Stub logs;
  v1::MetricService::Stub metrics;
  v1::AccessService::Stub access;
  v1::ReportService::Stub reports;
  v1::CodeService::Stub code;
  v1::ExecService::Stub exec;
};

Client::Client(std::vector<std::string> controllers, ClientLimits limits, AccessPlaces places)
    : controllers_(std::move(controllers)), limits_(limits), places_(std::move(places)) {}

Client::~Client() = default;

absl::Status Client::Unreachable(const ConnectError& error) const {
  const std::string advice = error.advice.empty()
                                 ? "start one with `trainyard dev`, or name another with --server "
                                   "HOST:PORT or $TRAINYARD_SERVER"
                                 : error.advice;
  return absl::UnavailableError(
      absl::StrCat("cannot reach a controller at ", server(), ": ", error.cause, "\n", advice));
}

absl::Status Client::ConnectToCurrent() {
  const milliseconds limit = controllers_.HasSeveral() ? limits_.connect_each : limits_.connect;
  const absl::StatusOr<Access> access = FindAccess(server(), places_);
  if (absl::IsUnauthenticated(access.status())) {
    const absl::Status answer = Answers(server(), limit);
    // The advice about the token file would not help, because no controller answers.
    if (!answer.ok()) return Unreachable(ExplainConnectError(answer.message(), server(), ""));
  }
  if (!access.ok()) return access.status();
  // With several controllers, only the proof shows whether the controller leads.
  absl::StatusOr<OpenedChannel> opened = OpenChannel(
      *access,
      {.arguments = ChannelArguments(), .limit = limit, .always_prove = controllers_.HasSeveral()});
  if (const auto leader = LeaderNamedBy(opened.status()); leader.has_value()) {
    return absl::UnavailableError(absl::StrCat(
        opened.status().message(), "\n",
        leader->empty() ? "try again shortly, and list all controllers in $TRAINYARD_SERVER"
                        : absl::StrCat("list all controllers, such as TRAINYARD_SERVER=", server(),
                                       ",", *leader)));
  }
  if (absl::IsUnavailable(opened.status())) {
    return Unreachable(
        ExplainConnectError(opened.status().message(), server(), access->certificate()));
  }
  // A server that shuts down cancels its open calls.
  if (absl::IsCancelled(opened.status())) {
    return Unreachable({"the controller ended the call", ""});
  }
  if (absl::IsDeadlineExceeded(opened.status())) {
    return Unreachable({absl::StrCat("no answer within ", limit.count(), " ms"), ""});
  }
  if (!opened.ok()) return opened.status();
  connection_ = std::make_unique<Connection>(std::move(opened->channel));
  return absl::OkStatus();
}

absl::StatusOr<Client::Connection*> Client::Connect() {
  const auto give_up = std::chrono::steady_clock::now() + limits_.leader_wait;
  std::vector<std::string> failures;
  while (connection_ == nullptr) {
    const absl::Status status = ConnectToCurrent();
    if (status.ok()) break;
    if (!controllers_.HasSeveral() || !absl::IsUnavailable(status)) return status;
    failures.emplace_back(FirstLine(status.message()));
    if (!controllers_.Advance()) continue;
    if (std::chrono::steady_clock::now() >= give_up) {
      return absl::UnavailableError(
          absl::StrCat("no controller leads: ", absl::StrJoin(failures, "; "),
                       "\ncheck the controllers and their database"));
    }
    failures.clear();
    std::this_thread::sleep_for(PauseBetweenRounds());
  }
  controllers_.Succeeded();
  return connection_.get();
}

template <typename Response, typename Request, typename Method>
absl::StatusOr<Response> Client::Call(const Request& request, Method method) {
  Response response;
  grpc::Status status;
  // A connection from an earlier call may be lost, so the call is tried twice. Requests that change
  // something are safe to repeat: a submit has an id, and the other requests set a state.
  // With several controllers, the leader may change during a call.
  const int after_loss = connection_ == nullptr ? 1 : 2;
  const int attempts = controllers_.HasSeveral() ? kTriesOfSeveral : after_loss;
  for (int i = 0; i < attempts; ++i) {
    TRAINYARD_ASSIGN_OR_RETURN(Connection * connection, Connect());
    grpc::ClientContext context;
    context.set_deadline(system_clock::now() + limits_.call);
    status = method(*connection, &context, request, &response);
    if (!ControllerHasEnded(status)) break;
    connection_ = nullptr;
  }
  if (status.ok()) return response;
  if (ControllerHasEnded(status)) {
    return Unreachable(ExplainLostConnection(status.error_message()));
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError(absl::StrCat(
        "the controller at ", server(), " did not answer within ", limits_.call.count() / 1000,
        " s\nthe controller may be overloaded or stopped; check with `trainyard server status`"));
  }
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return absl::UnimplementedError(absl::StrCat(
        "the server at ", server(), " does not support this call: ", status.error_message(),
        "\nthe server may be an older controller, or not a controller; compare the versions with "
        "`trainyard version`"));
  }
  return FromGrpc(status);
}

#define TRAINYARD_CALL(Name, stub)                                                    \
  absl::StatusOr<v1::Name##Response> Client::Name(const v1::Name##Request& request) { \
    return Call<v1::Name##Response>(                                                  \
        request, [](Connection& connection, grpc::ClientContext* context,             \
                    const v1::Name##Request& sent, v1::Name##Response* response) {    \
          return connection.stub.Name(context, sent, response);                       \
        });                                                                           \
  }
TRAINYARD_CALL(SubmitJob, jobs)
TRAINYARD_CALL(PlanJob, jobs)
TRAINYARD_CALL(ListJobs, jobs)
TRAINYARD_CALL(GetJob, jobs)
TRAINYARD_CALL(StopJob, jobs)
TRAINYARD_CALL(PauseJob, jobs)
TRAINYARD_CALL(ResumeJob, jobs)
TRAINYARD_CALL(ExtendJob, jobs)
TRAINYARD_CALL(WriteNote, jobs)
TRAINYARD_CALL(DeleteNote, jobs)
TRAINYARD_CALL(DeleteJob, jobs)
TRAINYARD_CALL(GetLineage, jobs)
TRAINYARD_CALL(GetArray, jobs)
TRAINYARD_CALL(WhyJob, jobs)
TRAINYARD_CALL(ListNodes, nodes)
TRAINYARD_CALL(CordonNode, nodes)
TRAINYARD_CALL(ReleaseNode, nodes)
TRAINYARD_CALL(RemoveNode, nodes)
TRAINYARD_CALL(GetTopology, nodes)
TRAINYARD_CALL(SetTopology, nodes)
TRAINYARD_CALL(ListReservations, nodes)
TRAINYARD_CALL(CreateReservation, nodes)
TRAINYARD_CALL(DeleteReservation, nodes)
TRAINYARD_CALL(CheckNodes, nodes)
TRAINYARD_CALL(ListQueues, queues)
TRAINYARD_CALL(SetQueue, queues)
TRAINYARD_CALL(DeleteQueue, queues)
TRAINYARD_CALL(MoveJob, queues)
TRAINYARD_CALL(FindMissingCode, code)
TRAINYARD_CALL(StoreCode, code)
TRAINYARD_CALL(FetchCode, code)
TRAINYARD_CALL(CheckStores, servers)
TRAINYARD_CALL(HandOver, servers)
TRAINYARD_CALL(CreateLoginCode, access)
TRAINYARD_CALL(WhoAmI, access)
TRAINYARD_CALL(ListSessions, access)
TRAINYARD_CALL(EndSessions, access)
TRAINYARD_CALL(GetSeries, metrics)
TRAINYARD_CALL(GetReport, reports)
TRAINYARD_CALL(GetLossReport, metrics)
TRAINYARD_CALL(GetExperts, metrics)
TRAINYARD_CALL(GetDataReport, metrics)
TRAINYARD_CALL(ListKeys, metrics)
#undef TRAINYARD_CALL

absl::StatusOr<v1::GetServerInfoResponse> Client::GetServerInfo() {
  return Call<v1::GetServerInfoResponse>(
      v1::GetServerInfoRequest(),
      [](Connection& connection, grpc::ClientContext* context, const v1::GetServerInfoRequest& sent,
         v1::GetServerInfoResponse* response) {
        return connection.servers.GetServerInfo(context, sent, response);
      });
}

absl::StatusOr<v1::GetServerInfoResponse> Client::GetServerInfoOf(
    const std::string& controller) const {
  TRAINYARD_ASSIGN_OR_RETURN(const Access access, FindAccess(controller, places_));
  TRAINYARD_ASSIGN_OR_RETURN(const OpenedChannel opened,
                             OpenChannel(access, {.arguments = ChannelArguments(),
                                                  .limit = limits_.connect_each,
                                                  .always_prove = true,
                                                  .accept_standby = true}));
  grpc::ClientContext context;
  context.set_deadline(system_clock::now() + limits_.connect_each);
  v1::GetServerInfoResponse response;
  TRAINYARD_RETURN_IF_ERROR(
      FromGrpc(v1::ServerService::NewStub(opened.channel)->GetServerInfo(&context, {}, &response)));
  return response;
}

template <typename Response, typename Open>
absl::Status Client::StreamOnce(const StreamControl& control, const Open& open,
                                const std::function<bool(const Response&)>& on_message,
                                bool& connected) {
  TRAINYARD_ASSIGN_OR_RETURN(Connection * connection, Connect());
  connected = true;
  grpc::ClientContext context;
  if (control.deadline.has_value()) {
    const auto left = *control.deadline - std::chrono::steady_clock::now();
    context.set_deadline(system_clock::now() +
                         std::chrono::duration_cast<system_clock::duration>(left));
  }
  std::optional<Interrupt::Scope> scope;
  if (control.interrupt != nullptr) {
    scope.emplace(*control.interrupt, [&context] { context.TryCancel(); });
  }
  const auto reader = open(*connection, &context);
  Response response;
  bool left_early = false;
  while (!left_early && reader->Read(&response)) left_early = !on_message(response);
  if (left_early) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (control.interrupt != nullptr && control.interrupt->raised()) {
    return absl::CancelledError("interrupted");
  }
  if (left_early || status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && control.deadline) {
    return absl::AbortedError("timed out");
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    // Makes the next call reconnect.
    connection_ = nullptr;
    return Unreachable(ExplainLostConnection(status.error_message()));
  }
  return FromGrpc(status);
}

absl::Status Client::StreamAgain(const StreamControl& control,
                                 const std::function<absl::Status(bool&)>& once) {
  using std::chrono::steady_clock;
  std::optional<steady_clock::time_point> lost_since;
  bool ever_connected = false;
  for (;;) {
    bool connected = false;
    const absl::Status status = once(connected);
    ever_connected = ever_connected || connected;
    if (status.code() != absl::StatusCode::kUnavailable || !ever_connected ||
        control.interrupt == nullptr) {
      return status;
    }
    if (connected) {
      lost_since = steady_clock::now();
      if (control.on_lost) control.on_lost();
    }
    if (steady_clock::now() - *lost_since > limits_.reconnect) return status;
    if (control.deadline.has_value() && steady_clock::now() > *control.deadline) {
      return absl::AbortedError("timed out");
    }
    if (control.interrupt->WaitFor(kPauseBetweenAttempts)) {
      return absl::CancelledError("interrupted");
    }
  }
}

absl::Status Client::WatchJob(const v1::WatchJobRequest& request, const StreamControl& control,
                              const std::function<bool(const v1::WatchJobResponse&)>& on_message) {
  return StreamAgain(control, [&](bool& connected) {
    return StreamOnce<v1::WatchJobResponse>(
        control,
        [&request](Connection& connection, grpc::ClientContext* context) {
          return connection.jobs.WatchJob(context, request);
        },
        on_message, connected);
  });
}

absl::Status Client::ReadLogs(const v1::ReadLogsRequest& request, const StreamControl& control,
                              const std::function<bool(const v1::LogLine&)>& on_line) {
  // Maps (attempt, rank) to the offset of the last delivered line. Offsets grow within the output
  // of one rank.
  std::map<std::pair<int64_t, int>, int64_t> delivered;
  // With new_only: the time at which the worker read the first delivered line.
  std::optional<int64_t> first_new_ms;
  v1::ReadLogsRequest asked = request;
  const auto deliver = [&](const v1::ReadLogsResponse& response) {
    for (const v1::LogLine& line : response.lines()) {
      // True after a reconnect, when the stream repeats older lines. If a rank has printed nothing
      // new, its lines are recognized as old by their time.
      const bool again = request.new_only() && !asked.new_only();
      const bool known = delivered.contains({line.attempt(), line.rank()});
      if (again && !known && line.time_ms() < *first_new_ms) continue;
      if (!first_new_ms.has_value()) first_new_ms = line.time_ms();
      const auto [last, fresh] =
          delivered.try_emplace({line.attempt(), line.rank()}, line.offset());
      if (!fresh && line.offset() <= last->second) continue;
      last->second = line.offset();
      if (!on_line(line)) return false;
    }
    return true;
  };
  const auto once = [&](bool& connected) {
    const absl::Status status = StreamOnce<v1::ReadLogsResponse>(
        control,
        [&asked](Connection& connection, grpc::ClientContext* context) {
          return connection.logs.ReadLogs(context, asked);
        },
        deliver, connected);
    if (!delivered.empty()) {
      // Requests all lines. Delivered lines are skipped by their offsets.
      asked.set_tail(0);
      asked.set_new_only(false);
    }
    return status;
  };
  bool connected = false;
  return request.follow() ? StreamAgain(control, once) : once(connected);
}

absl::StatusOr<std::unique_ptr<ExecCall>> Client::OpenExec() {
  TRAINYARD_ASSIGN_OR_RETURN(Connection * connection, Connect());
  return std::make_unique<ExecCall>(connection->exec);
}

absl::Status Client::ExecStatus(const grpc::Status& status) const {
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return absl::UnimplementedError(absl::StrCat("the controller at ", server(),
                                                 " is of an older release, which does not support "
                                                 "exec; upgrade it"));
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(absl::StrCat(
        "the connection to the controller at ", server(),
        " is lost: ", ExplainLostConnection(status.error_message()).cause,
        "; the command was ended\nthe job is not affected; run the command again once `trainyard "
        "server status` answers"));
  }
  return FromGrpc(status);
}

}  // namespace trainyard::cli
