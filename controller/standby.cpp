#include "controller/standby.h"

#include <grpcpp/grpcpp.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/access/listener_rule.h"
#include "controller/http/guard.h"
#include "controller/http/problem.h"
#include "controller/http/target.h"
#include "controller/server_info.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr char kHealthPath[] = "/healthz";
constexpr char kMetricsPath[] = "/metrics";

std::string RoleText(const v1::Leadership& leadership) {
  if (leadership.leader().empty()) return "this controller is a standby; no controller leads";
  return absl::StrCat("this controller is a standby; the controller at ", leadership.leader(),
                      " leads");
}

}  // namespace

Standby::Standby(const ControllerOptions& options, const Clock& clock)
    : door_(options, nullptr, clock), service_(door_.prover, [this] { return Info(); }) {
  info_.set_version(TRAINYARD_VERSION);
  info_.set_started_time_ms(clock.Now());
  info_.set_access(AccessText(options));
  info_.mutable_leadership()->set_since_ms(clock.Now());
}

absl::StatusOr<std::unique_ptr<Standby>> Standby::Start(const ControllerOptions& options,
                                                        const Clock& clock) {
  for (const ListenerSetting& listener : ListenersOf(options)) {
    TRAINYARD_RETURN_IF_ERROR(CheckListener(listener));
  }
  std::unique_ptr<Standby> standby(new Standby(options, clock));
  TRAINYARD_RETURN_IF_ERROR(standby->Listen(options));
  return standby;
}

absl::Status Standby::Listen(const ControllerOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(
      listening_, StartGenericServer(options.listen, service_,
                                     {MakeServerCredentials(door_.token_check, options.tls)}));
  door_.grpc_port = listening_.port;
  door_.StartWatches();
  return options.http.listen.empty() ? absl::OkStatus() : ListenForHttp(options);
}

absl::Status Standby::ListenForHttp(const ControllerOptions& options) {
  own_names_ = http::WithMachineName(options.http.own_names);
  TRAINYARD_ASSIGN_OR_RETURN(http_, http::Server::Listen(options.http.listen, {}, options.tls));
  TRAINYARD_ASSIGN_OR_RETURN(relay_, http::Relay::Start(options.tls));
  http_->Start([this](http::Request request, const http::Respond& respond) {
    AnswerHttp(std::move(request), respond);
  });
  return absl::OkStatus();
}

Standby::~Standby() {
  if (http_ != nullptr) http_->Stop();
  door_.token_watch.Stop();
  if (listening_.server == nullptr) return;
  listening_.server->Shutdown(std::chrono::system_clock::now());
  listening_.server->Wait();
}

void Standby::ShowLeader(const std::string& leader, int64_t term, const std::string& page) {
  const std::lock_guard lock(mutex_);
  page_ = page;
  v1::Leadership& leadership = *info_.mutable_leadership();
  if (leadership.leader() != leader || leadership.term() != term) {
    spdlog::info("standby: {}", leader.empty() ? "no controller leads"
                                               : absl::StrCat(leader, " leads, term ", term));
  }
  leadership.set_leader(leader);
  leadership.set_term(term);
}

void Standby::ShowPosition(int64_t position) {
  const std::lock_guard lock(mutex_);
  info_.set_revision(static_cast<uint64_t>(position));
}

void Standby::ShowProblem(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(problem_, problem) != problem && !problem.empty()) {
    spdlog::warn("this standby cannot take over: {}; retrying", problem);
  }
}

v1::GetServerInfoResponse Standby::Info() const {
  const std::lock_guard lock(mutex_);
  return info_;
}

void Standby::AnswerHttp(http::Request request, const http::Respond& respond) const {
  const std::string path(http::SplitTarget(request.target).first);
  if (path == kHealthPath) return respond(HealthResponse());
  if (std::optional<http::Response> refusal = http::Refusal(request, own_names_)) {
    return respond(*std::move(refusal));
  }
  std::unique_lock lock(mutex_);
  const std::string page = page_;
  lock.unlock();
  // A relayed request is not passed on again: the other standby has not seen the new leader yet.
  // The metrics of the leader belong to the address of the leader alone.
  if (page.empty() || request.relayed || path == kMetricsPath) return respond(RoleResponse(path));
  relay_->Forward(page, std::move(request), respond);
}

http::Response Standby::HealthResponse() const {
  const std::lock_guard lock(mutex_);
  return {.status = problem_.empty() ? 200 : 503,
          .content_type = "text/plain; charset=utf-8",
          .body = absl::StrCat(problem_.empty() ? RoleText(info_.leadership()) : problem_, "\n"),
          .cache_control = "no-store"};
}

http::Response Standby::RoleResponse(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  return http::ProblemResponse(absl::UnavailableError(RoleText(info_.leadership())), target);
}

}  // namespace trainyard::controller
