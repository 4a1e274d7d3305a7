#include "controller/http/dashboard.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/access/caller.h"
#include "controller/access/gate.h"
#include "controller/http/assets.h"
#include "controller/http/guard.h"
#include "controller/http/login.h"
#include "controller/http/problem.h"
#include "controller/http/rest.h"
#include "controller/http/server.h"
#include "controller/http/stream_feed.h"
#include "controller/http/target.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller::http {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kHeartbeat{15};
// kSessionCheck: how often streams of ended sessions are closed. kSessionSave: how often the time
// of each session's latest use is stored.
constexpr std::chrono::seconds kSessionCheck{1};
constexpr std::chrono::minutes kSessionSave{1};
constexpr char kMetricsPath[] = "/metrics";
constexpr char kHealthPath[] = "/healthz";

bool IsOfApi(const std::string& path) {
  return path == kApiPrefix || absl::StartsWith(path, std::string(kApiPrefix) + "/");
}

// Returns the route name for the request's metrics. The names come from a fixed list, so that
// clients cannot create new metrics with invented paths.
std::string RouteOf(const std::string& method, const std::string& path) {
  if (path == kMetricsPath || path == kHealthPath) return path;
  if (!IsOfApi(path)) return "page";
  const std::string_view below = std::string_view(path).substr(kApiPrefix.size());
  const auto match = MatchRoute(method, below);
  if (!match.ok() || match->route == nullptr) return "unknown";
  return std::string(kApiPrefix).append(match->route->path);
}

}  // namespace

struct Dashboard::Parts {
  Parts(const Api& api, const DashboardOptions& options, std::unique_ptr<Server> listening,
        Assets found)
      : server(std::move(listening)),
        assets(std::move(found)),
        own_names(WithMachineName(options.own_names)),
        readers(api.readers),
        gate(api.gate),
        render_metrics(options.render_metrics),
        health_problems(options.health_problems),
        observe_request(options.observe_request),
        feed(api, [this](std::function<void()> work) { server->Post(std::move(work)); }),
        rest(api, feed, assets) {}

  // Call on the server's thread.
  void Handle(Request request, Respond respond) {
    const std::string path(SplitTarget(request.target).first);
    if (observe_request) respond = Timed(RouteOf(request.method, path), std::move(respond));
    if (std::optional<Response> refusal = Refusal(request, own_names)) {
      return respond(*std::move(refusal));
    }
    if (path == kLoginPath && request.method == "POST") {
      return AnswerLogin(request, gate, readers, respond);
    }
    const bool is_page = !IsOfApi(path) && path != kMetricsPath && path != kHealthPath;
    if (is_page) return respond(AnswerPage(request, path));
    Identify(request);
    if (IsOfApi(path)) return rest.Handle(std::move(request), std::move(respond));
    // A scrape from this machine needs no token, because Prometheus runs as another user and cannot
    // read the token file.
    if (request.role == Role::kAnonymous && !IsLocal(request.peer)) {
      return respond(ProblemResponse("unauthenticated", kHowToComeIn, path));
    }
    if (path == kMetricsPath && render_metrics) return AnswerMetrics(request, std::move(respond));
    if (path == kHealthPath && health_problems) return AnswerHealth(request, std::move(respond));
    respond(assets.Answer(request, path));
  }

  // Answers a request for one of the dashboard's files. No authentication is needed, because a
  // browser sends no secret when it opens an address, and the files contain no cluster data.
  Response AnswerPage(const Request& request, const std::string& path) const {
    Response response = assets.Answer(request, path);
    if (path == kLoginPath) RemoveOldCookie(response);
    return response;
  }

  // Sets the role and the session of the client.
  void Identify(Request& request) {
    const bool has_token = gate.TakesHeader(request.authorization);
    if (!has_token) {
      request.session_id = gate.UseSession(request.session_secret, PeerHost(request));
    }
    const bool is_operator = has_token || !request.session_id.empty();
    request.role = is_operator ? Role::kOperator : Role::kAnonymous;
  }

  // Stores sessions on a reader thread, because the server's thread must not wait for a disk.
  void SaveSessions() {
    readers.TryPost([this] {
      if (const absl::Status status = gate.SaveSessions(); !status.ok()) {
        spdlog::warn("cannot store the dashboard sessions: {}", std::string(status.message()));
      }
    });
  }

  Respond Timed(std::string route, Respond respond) const {
    return [this, route = std::move(route), respond = std::move(respond),
            begin = Steady::now()](Response response) {
      observe_request(route, absl::StrCat(response.status),
                      std::chrono::duration<double>(Steady::now() - begin).count());
      respond(std::move(response));
    };
  }

  // Answers 503 with the list of problems if there are any, even if the controller still works in
  // part.
  void AnswerHealth(const Request& request, Respond respond) const {
    if (request.method != "GET" && request.method != "HEAD") {
      Response refused = ProblemResponse("method_not_allowed", "use GET", kHealthPath);
      refused.headers.emplace_back("Allow", "GET, HEAD");
      return respond(std::move(refused));
    }
    const std::string problems = health_problems();
    Response response{.status = problems.empty() ? 200 : 503,
                      .content_type = "text/plain; charset=utf-8",
                      .body = problems.empty() ? "ok\n" : problems};
    response.cache_control = "no-store";
    respond(std::move(response));
  }

  // Renders the metrics on a reader thread, because rendering waits for the loop thread.
  void AnswerMetrics(const Request& request, Respond respond) {
    if (request.method != "GET") {
      Response refused = ProblemResponse("method_not_allowed", "use GET", kMetricsPath);
      refused.headers.emplace_back("Allow", "GET");
      return respond(std::move(refused));
    }
    const bool accepted = readers.TryPost([this, respond] {
      Response response;
      response.content_type = "text/plain; version=0.0.4; charset=utf-8";
      response.body = render_metrics();
      respond(std::move(response));
    });
    if (!accepted) respond(ProblemResponse(ReaderPool::Busy(), kMetricsPath));
  }

  const std::unique_ptr<Server> server;
  const Assets assets;
  const std::vector<std::string> own_names;
  ReaderPool& readers;
  AccessGate& gate;
  const std::function<std::string()> render_metrics;
  const std::function<std::string()> health_problems;
  const ObserveRequest observe_request;
  StreamFeed feed;
  Rest rest;
};

Dashboard::Dashboard(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Dashboard::~Dashboard() { Stop(); }

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Listen(const Api& api,
                                                             const DashboardOptions& options) {
  auto assets =
      options.web_root.empty() ? Assets::Embedded() : Assets::InDirectory(options.web_root);
  if (!assets.ok()) return assets.status();
  auto server = Server::Listen(options.listen, {}, options.tls);
  if (!server.ok()) return server.status();
  (*server)->BeforeAnswer(options.before_answer);
  return std::unique_ptr<Dashboard>(
      new Dashboard(std::make_unique<Parts>(api, options, *std::move(server), *std::move(assets))));
}

void Dashboard::Start() {
  parts_->feed.Start();
  parts_->server->Every(kHeartbeat, [this] { parts_->feed.Heartbeat(); });
  parts_->server->Every(kSessionCheck, [this] { parts_->feed.CloseEndedSessions(); });
  parts_->server->Every(kSessionSave, [this] { parts_->SaveSessions(); });
  parts_->server->Start([this](Request request, Respond respond) {
    parts_->Handle(std::move(request), std::move(respond));
  });
}

void Dashboard::Stop() { parts_->server->Stop(); }

const std::string& Dashboard::address() const { return parts_->server->address(); }

StreamStatistics Dashboard::Streams() const { return parts_->server->Streams(); }

void Dashboard::NotifyOutput(int64_t job_id) { parts_->feed.NotifyOutput(job_id); }

void Dashboard::NotifyPoints(int64_t job_id, int64_t step) {
  parts_->feed.NotifyPoints(job_id, step);
}

}  // namespace trainyard::controller::http
