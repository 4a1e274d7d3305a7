#include "tests/simulation/store/connection.h"

#include <string>

namespace trainyard::simulation {
namespace {

constexpr int64_t kSlowestMessageMs = 4;
constexpr int64_t kRetransmitMs = 40;
constexpr int64_t kLockPollMs = 15;
constexpr int64_t kLatestAnswerMs = 3'000;
// PostgresLimits::idle_transaction_ms.
constexpr int64_t kIdleTransactionMs = 2'000;

absl::Status NoAnswer() { return absl::UnavailableError("the database sent no answer"); }

}  // namespace

std::shared_ptr<Connection> Connection::Open(int member, World& world) {
  if (world.database_is_down || world.IsCut(member, Side::kDatabase)) return nullptr;
  return std::make_shared<Connection>(member, world.database.OpenSession(), world);
}

void Connection::WhenReachable(int64_t ms, std::function<void()> work) {
  world_.agenda.After(ms, [self = shared_from_this(), work = std::move(work)]() mutable {
    if (self->IsCut()) return self->WhenReachable(kRetransmitMs, std::move(work));
    work();
  });
}

void Connection::Call(const Limits& limits, Statement statement, Done done) {
  const int64_t number = ++number_;
  done_ = std::move(done);
  const auto self = shared_from_this();
  if (!is_open_) {
    return world_.agenda.After(0, [self, number] { self->Finish(number, NoAnswer(), true); });
  }
  world_.agenda.After(limits.answer_ms, [self, number] { self->Finish(number, NoAnswer(), true); });
  if (world_.random.Chance(world_.faults.break_before)) {
    return WhenReachable(1, [self, number] { self->Finish(number, NoAnswer(), true); });
  }
  WhenReachable(world_.random.Between(1, kSlowestMessageMs),
                [self, number, limits, statement = std::move(statement)]() mutable {
                  self->Arrive(number, self->world_.agenda.now() + limits.lock_ms, limits,
                               std::move(statement));
                });
}

// The server carries out a statement even if the controller has stopped waiting for it.
void Connection::Arrive(int64_t number, int64_t lock_until_ms, const Limits& limits,
                        Statement statement) {
  if (!world_.database.HasSession(session_)) {
    return WhenReachable(
        1, [self = shared_from_this(), number] { self->Finish(number, NoAnswer(), true); });
  }
  ++statements_;
  std::optional<absl::Status> status = statement(session_);
  if (!status.has_value() && world_.agenda.now() < lock_until_ms) {
    return world_.agenda.After(kLockPollMs, [self = shared_from_this(), number, lock_until_ms,
                                             limits, statement = std::move(statement)]() mutable {
      self->Arrive(number, lock_until_ms, limits, std::move(statement));
    });
  }
  if (!status.has_value()) status = absl::UnavailableError("another session holds a lock");
  if (world_.database.InTransaction(session_)) {
    world_.agenda.After(kIdleTransactionMs, [self = shared_from_this(), count = statements_] {
      self->EndTransactionIfIdle(count);
    });
  }
  Reply(number, *status);
}

void Connection::EndTransactionIfIdle(int64_t statements) {
  if (statements == statements_ && world_.database.InTransaction(session_)) {
    world_.database.EndSession(session_);
  }
}

void Connection::Reply(int64_t number, const absl::Status& status) {
  const bool breaks = world_.random.Chance(world_.faults.break_after);
  int64_t ms = world_.random.Between(1, kSlowestMessageMs);
  if (world_.random.Chance(world_.faults.late_answer)) {
    ms = world_.random.Between(ms, kLatestAnswerMs);
  }
  WhenReachable(ms, [self = shared_from_this(), number, status, breaks] {
    self->Finish(number, breaks ? NoAnswer() : status, breaks);
  });
}

void Connection::Finish(int64_t number, const absl::Status& status, bool breaks) {
  if (number != number_ || done_ == nullptr) return;
  if (breaks) Close();
  const Done done = std::exchange(done_, nullptr);
  done(status);
}

void Connection::Close() {
  is_open_ = false;
  WhenReachable(world_.random.Between(1, kSlowestMessageMs),
                [self = shared_from_this()] { self->world_.database.EndSession(self->session_); });
}

void Connection::SessionEnded() {
  WhenReachable(1, [self = shared_from_this()] { self->LearnEnd(); });
}

void Connection::LearnEnd() {
  closed_by_server_ = true;
  Finish(number_, NoAnswer(), true);
}

}  // namespace trainyard::simulation
