#include "controller/election.h"

#include <utility>

#include "controller/standby.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// The time between two attempts to reach the database.
constexpr std::chrono::milliseconds kReopenEvery{500};

class Wait {
 public:
  Wait(const ElectionHooks& hooks, const Clock& clock, ControllerOptions& options)
      : hooks_(hooks), clock_(clock), options_(options) {}

  absl::StatusOr<std::unique_ptr<LeaderSeat>> Lead() {
    for (;;) {
      TRAINYARD_RETURN_IF_ERROR(Step());
      // Close the listeners before the controller opens them.
      if (seat_ != nullptr && seat_->term() != 0) {
        standby_.reset();
        return std::move(seat_);
      }
      TRAINYARD_RETURN_IF_ERROR(Show());
      const std::chrono::milliseconds pause =
          seat_ == nullptr ? kReopenEvery : std::chrono::milliseconds(seat_->interval_ms());
      if (hooks_.stop_requested(pause)) return std::unique_ptr<LeaderSeat>();
    }
  }

 private:
  // Opens the seat if necessary, then tries to take over.
  absl::Status Step() {
    problem_.clear();
    if (seat_ == nullptr) {
      auto opened = hooks_.open_seat();
      if (!opened.ok()) return Pass(opened.status());
      seat_ = *std::move(opened);
    }
    if (hooks_.problem) problem_ = hooks_.problem();
    // Without a step, it neither takes over nor reports to the leader.
    if (!problem_.empty()) return absl::OkStatus();
    seat_->SetPosition(Position());
    return Pass(seat_->Step());
  }

  int64_t Position() const { return hooks_.position ? hooks_.position() : 0; }

  // Keeps the text of an error that may pass. Returns any other error.
  absl::Status Pass(const absl::Status& status) {
    const bool may_pass = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
                          absl::IsResourceExhausted(status);
    if (!status.ok()) problem_ = std::string(status.message());
    return may_pass ? absl::OkStatus() : status;
  }

  absl::Status Show() {
    if (standby_ == nullptr) {
      TRAINYARD_ASSIGN_OR_RETURN(standby_, Standby::Start(options_, clock_));
      options_.listen = standby_->address();
      options_.http.listen = standby_->http_address();
      spdlog::info("standby on {}, waiting to lead", standby_->address());
      if (hooks_.on_standby) {
        hooks_.on_standby(standby_->address(), standby_->http_address());
      }
    }
    if (seat_ != nullptr) {
      standby_->ShowLeader(seat_->leader(), seat_->leader_term(), seat_->leader_page());
    }
    standby_->ShowPosition(Position());
    standby_->ShowProblem(problem_);
    return absl::OkStatus();
  }

  const ElectionHooks& hooks_;
  const Clock& clock_;
  ControllerOptions& options_;
  std::unique_ptr<LeaderSeat> seat_;
  std::unique_ptr<Standby> standby_;
  std::string problem_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderSeat>> WaitToLead(const ElectionHooks& hooks,
                                                       const Clock& clock,
                                                       ControllerOptions& options) {
  return Wait(hooks, clock, options).Lead();
}

}  // namespace trainyard::controller
