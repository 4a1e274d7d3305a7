#include "tests/simulation/store/member.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"

namespace trainyard::simulation {

using controller::LeaderAction;
using controller::LeaderAnswer;

namespace {

// Unix ms at which the machines of the controllers were booted.
constexpr Timestamp kBootedMs = 999'000'000'000;
constexpr int64_t kReconnectMs = 500;
constexpr int64_t kShortestRestartMs = 200;
constexpr int64_t kLongestRestartMs = 2'000;
constexpr int64_t kLongestPauseMs = 6'000;
// Keepalive interval plus time-out of a worker (worker/rpc/attach_stream.h).
constexpr int64_t kKeepaliveMs = 9'000;
// The time limits of the statements of store/postgres/leadership.cpp.
constexpr Connection::Limits kSeatLimits{.lock_ms = 1'000, .answer_ms = 2'000};

std::string AddressOf(int member) { return absl::StrCat("controller ", member); }

}  // namespace

Member::Member(int number, World& world) : number_(number), world_(world) {}
Member::~Member() = default;

ClockReading Member::Clock() const {
  return {world_.agenda.now() + wall_ahead_ms_, world_.agenda.now() - kBootedMs};
}

void Member::Start() {
  is_up_ = true;
  ended_ = nullptr;
  opens_stores_ = false;
  successor_.clear();
  higher_term_ = 0;
  kernel_ = std::make_unique<controller::LeaderKernel>(AddressOf(number_));
  Run(0, [this] { ConnectSeat(); });
  Run(0, [this] { Follow(); });
}

void Member::Kill() {
  if (is_up_) End();
}

void Member::End() {
  is_up_ = false;
  ++life_;
  held_.clear();
  paused_until_ms_ = 0;
  if (seat_ != nullptr) seat_->Close();
  seat_ = nullptr;
  StopFollowing();
  ended_ = std::move(leading_);
  if (ended_ != nullptr) {
    ended_->writer->Close();
    if (ended_->snapshot_writer != nullptr) ended_->snapshot_writer->Close();
  }
  world_.close_links(number_);
  world_.agenda.After(world_.random.Between(kShortestRestartMs, kLongestRestartMs),
                      [this] { Start(); });
}

void Member::Run(int64_t ms, std::function<void()> work) {
  world_.agenda.After(ms, [this, life = life_, work = std::move(work)]() mutable {
    RunNow(life, std::move(work));
  });
}

void Member::RunNow(uint64_t life, std::function<void()> work) {
  if (life != life_) return;
  if (world_.agenda.now() < paused_until_ms_) {
    held_.emplace_back(life, std::move(work));
  } else {
    work();
  }
}

void Member::Pause(int64_t ms) {
  if (!is_up_ || world_.agenda.now() < paused_until_ms_) return;
  paused_until_ms_ = world_.agenda.now() + ms;
  world_.agenda.After(ms, [this] { Continue(); });
  if (ms <= kKeepaliveMs) return;
  world_.agenda.After(kKeepaliveMs, [this, life = life_] {
    if (life == life_) world_.close_links(number_);
  });
}

// Runs the work that has waited, in order.
void Member::Continue() {
  for (auto& [life, work] : std::exchange(held_, {})) RunNow(life, std::move(work));
}

void Member::AfterStep() {
  if (Leads() && world_.random.Chance(world_.faults.pause_at_step)) {
    Pause(world_.random.Between(1, kLongestPauseMs));
  }
}

void Member::Call(const std::shared_ptr<Connection>& connection, const Connection::Limits& limits,
                  Connection::Statement statement, Connection::Done done) {
  connection->Call(limits, std::move(statement),
                   [this, life = life_, done = std::move(done)](const absl::Status& status) {
                     RunNow(life, [done, status] { done(status); });
                   });
}

void Member::SessionEnded(int64_t session) {
  if (seat_ != nullptr && seat_->session() == session) seat_->SessionEnded();
  if (tail_ != nullptr && tail_->session() == session) tail_->SessionEnded();
  if (leading_ == nullptr) return;
  if (leading_->writer->session() == session) leading_->writer->SessionEnded();
  const auto& snapshot = leading_->snapshot_writer;
  if (snapshot != nullptr && snapshot->session() == session) snapshot->SessionEnded();
}

void Member::ConnectSeat() {
  seat_ = Connection::Open(number_, world_);
  if (seat_ == nullptr) return Run(kReconnectMs, [this] { ConnectSeat(); });
  kernel_->SessionOpened();
  Run(world_.random.Between(1, 20), [this] { BeginStep(); });
}

void Member::BeginStep() {
  if (kernel_->term() == 0 && !seat_->is_open()) return ConnectSeat();
  CarryOut(kernel_->Begin(Clock()));
}

void Member::CarryOut(LeaderAction action) {
  const auto answer = std::make_shared<LeaderAnswer>();
  Connection::Limits limits = kSeatLimits;
  if (action == LeaderAction::kBeginTerm) limits.lock_ms = controller::kRowWaitMs;
  // The server may carry out the action after this process has ended.
  const auto statement = [action, answer, &database = world_.database, term = kernel_->term(),
                          seen_term = kernel_->seen_term(), seen_session = kernel_->seen_session(),
                          holder =
                              kernel_->holder()](int64_t session) -> std::optional<absl::Status> {
    switch (action) {
      case LeaderAction::kTryLock:
      case LeaderAction::kPollLock:
        answer->locked = database.TryLock(session);
        return absl::OkStatus();
      case LeaderAction::kLook:
        answer->row = database.Look();
        return absl::OkStatus();
      case LeaderAction::kEndLockHolder:
        database.EndLockHolder(seen_session);
        return absl::OkStatus();
      case LeaderAction::kBeginTerm: {
        const auto begun = database.BeginTerm(session, seen_term, holder);
        answer->term = begun.value_or(0);
        return begun.has_value() ? std::optional(absl::OkStatus()) : std::nullopt;
      }
      case LeaderAction::kEndWriters:
        database.EndWriters();
        return absl::OkStatus();
      case LeaderAction::kRenew:
        return database.Renew(term);
      case LeaderAction::kUnlock:
        database.Unlock(session);
        return absl::OkStatus();
      case LeaderAction::kReport:
        database.Report(holder);
        return absl::OkStatus();
    }
    return absl::OkStatus();
  };
  Call(seat_, limits, statement, [this, action, answer](const absl::Status& status) {
    answer->status = status;
    answer->session_ended = !seat_->is_open();
    const bool waits = action == LeaderAction::kPollLock && status.ok() && !answer->locked;
    Run(waits ? controller::kLockPollMs : 0, [this, answer] { Answered(*answer); });
  });
}

void Member::Answered(LeaderAnswer answer) {
  const auto next = kernel_->Answered(std::move(answer), Clock());
  if (next.has_value()) return CarryOut(*next);
  StepEnded();
}

bool Member::MayAnswer() const { return kernel_->MayAnswer(Clock()) && !seat_->has_ended(); }

// The rules of controller/loop/leader_guard.cpp for a leader.
void Member::StepEnded() {
  if (kernel_->term() != 0) {
    if (absl::IsAborted(kernel_->result()) || !MayAnswer()) return End();
    if (!std::exchange(opens_stores_, true)) OpenStores();
    if (higher_term_ > 0) return PassTerm();
    if (Leads() && !successor_.empty()) return NameSuccessor();
  }
  Run(kernel_->interval_ms(), [this] { BeginStep(); });
}

void Member::HandOver(int successor) { successor_ = AddressOf(successor); }

void Member::NameSuccessor() {
  EndAfter([&database = world_.database, term = kernel_->term(), successor = successor_](int64_t) {
    return database.NameSuccessor(term, successor);
  });
}

void Member::PassTerm() {
  EndAfter([&database = world_.database, term = kernel_->term(), seen = higher_term_](int64_t) {
    return database.PassTerm(term, seen);
  });
}

void Member::EndAfter(Connection::Statement statement) {
  Call(seat_, kSeatLimits, std::move(statement), [this](const absl::Status&) { End(); });
}

}  // namespace trainyard::simulation
