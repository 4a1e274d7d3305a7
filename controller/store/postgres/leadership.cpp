#include "controller/store/postgres/leadership.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"
#include "controller/store/postgres/leader_table.h"
#include "proto/support/durable_file.h"

namespace trainyard::controller {
namespace {

// Below the time after which a candidate may take over.
constexpr PostgresLimits kLeaderLimits{
    .connect_ms = 2'000, .statement_ms = 2'000, .idle_transaction_ms = 2'000, .answer_ms = 2'000};
// The lock belongs to a database, and its key to a schema.
constexpr char kTryLock[] =
    "SELECT pg_try_advisory_lock(hashtextextended('trainyard leader ' || current_schema(), 0))";

constexpr char kUnlock[] =
    "SELECT pg_advisory_unlock(hashtextextended('trainyard leader ' || current_schema(), 0))";

// The time since a moment, in milliseconds by the clock of the database.
#define TRAINYARD_SINCE(moment)                                   \
  "LEAST(EXTRACT(epoch FROM clock_timestamp() - GREATEST(" moment \
  ", '2000-01-01')) * 1000, 1e15)::bigint"

constexpr char kLook[] =
    "SELECT term, holder, session, " TRAINYARD_SINCE("renewed") ", successor, " TRAINYARD_SINCE(
        "named") ", " TRAINYARD_SINCE("COALESCE((SELECT reported FROM standby WHERE address = "
                                      "successor), '-infinity')") ", COALESCE((SELECT text FROM "
    "leader_note WHERE name = 'page' AND leader_note.term = leader.term), ''), (SELECT COUNT(*) "
    "FROM leader_note WHERE name = 'confirmed' AND leader_note.term = leader.term) FROM leader";

// Reports of the last minute. $1 is the maximum number of rows.
constexpr char kReportedStandbys[] =
    "SELECT address, version, position, " TRAINYARD_SINCE("reported") " FROM standby WHERE "
    "reported > clock_timestamp() - interval '1 min' ORDER BY address LIMIT $1";

#undef TRAINYARD_SINCE

// Ends the session that holds the lock. A session other than the leader's is a candidate that is
// about to take over; it is ended only if it is stalled. The leader may have renewed its row since
// this candidate looked at it, because the candidate may have been paused.
constexpr char kEndLockHolder[] =
    "SELECT pg_terminate_backend(holder.pid) FROM pg_locks AS held JOIN pg_stat_activity AS holder "
    "ON holder.pid = held.pid WHERE locktype = 'advisory' AND granted AND held.database = (SELECT "
    "oid FROM pg_database WHERE datname = current_database()) AND (classid::bigint << 32 | "
    "objid::bigint) = hashtextextended('trainyard leader ' || current_schema(), 0) AND "
    "((holder.pid = $1 AND EXISTS (SELECT 1 FROM leader WHERE renewed <= clock_timestamp() - "
    "interval "
    "'2.5 s')) OR query_start < clock_timestamp() - interval '2.5 s')";

// Sessions with an open transaction of a leader: SELECT ... FOR KEY SHARE locks the table in the
// mode RowShareLock until the transaction ends.
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

constexpr int kListedStandbys = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<Leadership>> Leadership::Open(const std::string& settings,
                                                             const std::string& holder,
                                                             const std::string& version,
                                                             LeaderKind kind) {
  std::unique_ptr<Leadership> leadership(new Leadership(settings, holder, version, kind));
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

Leadership::~Leadership() {
  if (kernel_.term() != 0 || !has_reported_ || !database_->IsUsable()) return;
  // Without this, a leader would take the report for recent for a moment.
  database_->Run("DELETE FROM standby WHERE address = $1", kernel_.holder()).IgnoreError();
}

absl::Status Leadership::Connect() {
  kernel_.SessionOpened();
  TRAINYARD_ASSIGN_OR_RETURN(database_, PostgresDatabase::Connect(settings_, kLeaderLimits));
  // A child that outlives this process must not keep the connection and its lock.
  socket_.Reset(fcntl(database_->socket(), F_DUPFD_CLOEXEC, 0));
  return socket_.valid() ? absl::OkStatus() : ErrnoStatus(errno, "cannot duplicate", "a socket");
}

bool Leadership::SessionHasEnded() const {
  pollfd socket{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return poll(&socket, 1, 0) > 0;
}

absl::Status Leadership::Step() {
  if (kernel_.term() == 0 && !database_->IsAlive()) TRAINYARD_RETURN_IF_ERROR(Connect());
  std::optional<LeaderAction> action = kernel_.Begin(clock_.Read());
  while (action.has_value()) action = kernel_.Answered(Answer(*action), clock_.Read());
  return kernel_.result();
}

LeaderAnswer Leadership::Answer(LeaderAction action) {
  LeaderAnswer answer;
  answer.status = CarryOut(action, answer);
  answer.session_ended = !database_->IsAlive();
  return answer;
}

absl::Status Leadership::CarryOut(LeaderAction action, LeaderAnswer& answer) {
  switch (action) {
    case LeaderAction::kTryLock: {
      TRAINYARD_ASSIGN_OR_RETURN(const int64_t locked, database_->QueryInt64(kTryLock));
      answer.locked = locked != 0;
      return absl::OkStatus();
    }
    case LeaderAction::kLook:
      return Look(answer.row);
    case LeaderAction::kEndLockHolder:
      return database_->Run(kEndLockHolder, kernel_.seen_session());
    case LeaderAction::kPollLock:
      return PollLock(answer.locked);
    case LeaderAction::kBeginTerm: {
      TRAINYARD_ASSIGN_OR_RETURN(answer.term, BeginTerm({.seen_term = kernel_.seen_term(),
                                                         .holder = kernel_.holder(),
                                                         .wait_ms = kRowWaitMs},
                                                        *database_));
      return absl::OkStatus();
    }
    case LeaderAction::kEndWriters:
      return database_->Run(kEndWriters);
    case LeaderAction::kRenew:
      return Renew();
    case LeaderAction::kUnlock:
      return database_->Run(kUnlock);
    case LeaderAction::kReport:
      return Report();
  }
  return absl::OkStatus();
}

absl::Status Leadership::Look(LeaderRow& row) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database_->Query(kLook));
  if (rows.size() != 1) {
    return absl::DataLossError(absl::StrCat(
        database_->name(), ": the table leader has no row; restore a backup of the database"));
  }
  row = {.term = rows.Int64(0, 0),
         .holder = std::string(rows.Bytes(0, 1)),
         .session = rows.Int64(0, 2),
         .unrenewed_ms = rows.Int64(0, 3),
         .successor = std::string(rows.Bytes(0, 4)),
         .named_ms = rows.Int64(0, 5),
         .reported_ms = rows.Int64(0, 6),
         .page = std::string(rows.Bytes(0, 7)),
         .confirmed = rows.Int64(0, 8) != 0};
  return absl::OkStatus();
}

absl::Status Leadership::PollLock(bool& locked) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t found, database_->QueryInt64(kTryLock));
  locked = found != 0;
  if (locked) return absl::OkStatus();
  return database_->Run("SELECT pg_sleep($1)", static_cast<double>(kLockPollMs) / 1000);
}

absl::Status Leadership::Renew() {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows renewed,
      database_->Query("UPDATE leader SET renewed = clock_timestamp() WHERE term = $1",
                       kernel_.term()));
  return renewed.changed() == 1 ? absl::OkStatus() : LeadershipLost(kernel_.term(), *database_);
}

absl::Status Leadership::Report() {
  TRAINYARD_RETURN_IF_ERROR(database_->Run(
      "INSERT INTO standby VALUES ($1, $2, $3, clock_timestamp()) ON CONFLICT (address) DO UPDATE "
      "SET version = $2, position = $3, reported = clock_timestamp()",
      kernel_.holder(), version_, position_));
  has_reported_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<StandbyReport>> Leadership::Standbys() {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             database_->Query(kReportedStandbys, kListedStandbys));
  std::vector<StandbyReport> standbys;
  for (int row = 0; row < rows.size(); ++row) {
    const int64_t reported_ms = rows.Int64(row, 3);
    standbys.push_back({.address = std::string(rows.Bytes(row, 0)),
                        .version = std::string(rows.Bytes(row, 1)),
                        .reported_ms = reported_ms,
                        .position = rows.Int64(row, 2),
                        .is_ready = reported_ms < kReadyWithinMs});
  }
  return standbys;
}

absl::Status Leadership::NameSuccessor(const std::string& address) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows named,
      database_->Query(
          "UPDATE leader SET successor = $1, named = clock_timestamp() WHERE term = $2", address,
          kernel_.term()));
  return named.changed() == 1 ? absl::OkStatus() : LeadershipLost(kernel_.term(), *database_);
}

absl::Status Leadership::PassTerm(int64_t seen) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginWrite(*database_));
  TRAINYARD_RETURN_IF_ERROR(WaitForLeaderWrites(*database_));
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows passed,
                             database_->Query("UPDATE leader SET term = $1 WHERE term = $2 AND "
                                              "term < $1",
                                              seen, kernel_.term()));
  if (passed.changed() != 1) return LeadershipLost(kernel_.term(), *database_);
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return absl::AbortedError(absl::StrCat(
      database_->name(), ": a worker has seen term ", seen, ", but this controller leads term ",
      kernel_.term(), ": the database was replaced by an older copy. The next term is ", seen + 1));
}

}  // namespace trainyard::controller
