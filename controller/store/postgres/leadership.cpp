#include "controller/store/postgres/leadership.h"

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_rule.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_probe.h"

namespace trainyard::controller {
namespace {

// Below the time after which a candidate may take over.
constexpr PostgresLimits kLeaderLimits{
    .connect_ms = 2'000, .statement_ms = 2'000, .idle_transaction_ms = 2'000, .answer_ms = 2'000};
// The number of polls for the lock of an ended session, kRowWaitMs in all.
constexpr int kLockPolls = 20;
// The number of times that blocking sessions are ended for one take-over. Several are needed only
// if the old leader opens transactions meanwhile.
constexpr int kTakeOverAttempts = 5;

// The lock belongs to a database, and its key to a schema.
constexpr char kTryLock[] =
    "SELECT pg_try_advisory_lock(hashtextextended('trainyard leader ' || current_schema(), 0))";

// Ends the session that holds the lock. A session other than the leader's is a candidate that is
// about to take over; it is ended only if it is stalled.
constexpr char kEndLockHolder[] =
    "SELECT pg_terminate_backend(holder.pid) FROM pg_locks AS held JOIN pg_stat_activity AS holder "
    "ON holder.pid = held.pid WHERE locktype = 'advisory' AND granted AND held.database = (SELECT "
    "oid FROM pg_database WHERE datname = current_database()) AND (classid::bigint << 32 | "
    "objid::bigint) = hashtextextended('trainyard leader ' || current_schema(), 0) AND "
    "(holder.pid = $1 OR query_start < clock_timestamp() - interval '2.5 s')";

// Sessions with an open transaction of a leader: SELECT ... FOR SHARE locks the table in the mode
// RowShareLock until the transaction ends.
constexpr char kEndWriters[] =
    "SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT pid FROM pg_locks WHERE relation = "
    "'leader'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database()) AND mode = 'RowShareLock' AND granted AND pid <> pg_backend_pid()) AS "
    "writer";

// The session of the leader, if this user cannot end it. Only superusers can end the sessions of
// superusers.
constexpr char kForeignSession[] =
    "SELECT COUNT(*) FROM pg_stat_activity JOIN leader ON pid = session JOIN pg_roles ON "
    "pg_roles.oid = usesysid WHERE NOT pg_has_role(usesysid, 'MEMBER') AND (rolsuper OR NOT "
    "pg_has_role('pg_signal_backend', 'MEMBER'))";

}  // namespace

absl::StatusOr<std::unique_ptr<Leadership>> Leadership::Open(const std::string& settings,
                                                             const std::string& holder) {
  std::unique_ptr<Leadership> leadership(new Leadership(settings, holder));
  TRAINYARD_RETURN_IF_ERROR(leadership->Connect());
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t foreign,
                             leadership->database_->QueryInt64(kForeignSession));
  if (foreign == 0) return leadership;
  return absl::PermissionDeniedError(absl::StrCat(
      leadership->database_->name(),
      ": the session of the leader belongs to another user, so this controller could not end it if "
      "the leader is stalled; use one database user for all controllers, or grant "
      "pg_signal_backend"));
}

absl::Status Leadership::Connect() {
  has_lock_ = false;
  looks_in_session_ = 0;
  TRAINYARD_ASSIGN_OR_RETURN(database_, PostgresDatabase::Connect(settings_, kLeaderLimits));
  return MarkController(holder_, *database_);
}

int64_t Leadership::interval_ms() const { return term_ == 0 ? kCandidateEveryMs : kRenewEveryMs; }

absl::Status Leadership::Step() {
  if (term_ != 0) return Renew();
  if (!database_->IsAlive()) TRAINYARD_RETURN_IF_ERROR(Connect());
  return Run();
}

bool Leadership::MayAnswer() const {
  const auto since = std::chrono::steady_clock::now() - renewed_.load();
  return term_ != 0 &&
         !MayBeReplaced(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

absl::Status Leadership::Renew() {
  const auto sent = std::chrono::steady_clock::now();
  const auto renewed =
      database_->Query("UPDATE leader SET renewed = clock_timestamp() WHERE term = $1", term_);
  // The lock ended with the session, so another controller may lead. A new session would not help.
  if (!renewed.ok() && !database_->IsAlive()) {
    return absl::AbortedError(
        absl::StrCat(renewed.status().message(), ". The session of the leader of term ", term_,
                     " has ended, so another controller may lead; this controller must exit"));
  }
  if (!renewed.ok()) return renewed.status();
  if (renewed->changed() != 1) return LeadershipLost(term_, *database_);
  renewed_ = sent;
  return absl::OkStatus();
}

absl::StatusOr<bool> Leadership::TryLock() {
  if (has_lock_) return true;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t locked, database_->QueryInt64(kTryLock));
  has_lock_ = locked != 0;
  return has_lock_;
}

absl::Status Leadership::Run() {
  LeaderView view;
  TRAINYARD_ASSIGN_OR_RETURN(view.has_lock, TryLock());
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database_->Query("SELECT term, holder, session, LEAST(EXTRACT(epoch FROM clock_timestamp() - "
                       "GREATEST(renewed, '2000-01-01')) * 1000, 1e15)::bigint FROM leader"));
  if (rows.size() != 1) {
    return absl::DataLossError(absl::StrCat(
        database_->name(), ": the table leader has no row; restore a backup of the database"));
  }
  const int64_t seen_term = rows.Int64(0, 0);
  leader_ = rows.Bytes(0, 1);
  leader_term_ = seen_term;
  ++looks_in_session_;
  view.unrenewed_ms = rows.Int64(0, 3);
  switch (NextStepOf(view)) {
    case CandidateStep::kWait:
      return absl::OkStatus();
    case CandidateStep::kTakeOver:
      return TakeOver(seen_term);
    case CandidateStep::kEndSessionAndTakeOver:
      TRAINYARD_RETURN_IF_ERROR(database_->Run(kEndLockHolder, rows.Int64(0, 2)));
      TRAINYARD_ASSIGN_OR_RETURN(const bool locked, WaitForLock());
      return locked ? TakeOver(seen_term) : absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Leadership::WaitForLock() {
  for (int i = 0; i < kLockPolls; ++i) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool locked, TryLock());
    if (locked) return true;
    TRAINYARD_RETURN_IF_ERROR(
        database_->Run("SELECT pg_sleep($1)", static_cast<double>(kRowWaitMs) / kLockPolls / 1000));
  }
  return false;
}

absl::Status Leadership::TakeOver(int64_t seen_term) {
  absl::StatusOr<int64_t> term = int64_t{0};
  for (int i = 0; i < kTakeOverAttempts; ++i) {
    renewed_ = std::chrono::steady_clock::now();
    term =
        BeginTerm({.seen_term = seen_term, .holder = holder_, .wait_ms = kRowWaitMs}, *database_);
    if (!absl::IsUnavailable(term.status()) || !database_->IsAlive()) break;
    // A stopped leader in the middle of a transaction holds the row.
    TRAINYARD_RETURN_IF_ERROR(database_->Run(kEndWriters));
  }
  if (!term.ok()) return term.status();
  term_ = *term;
  if (term_ == 0) return absl::OkStatus();
  leader_ = holder_;
  leader_term_ = term_;
  return absl::OkStatus();
}

}  // namespace trainyard::controller
