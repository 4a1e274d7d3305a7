// The server's side of an event log that several controllers share: sessions, the advisory lock,
// the row of the leader, and transactions. It behaves as PostgreSQL does for the statements of
// controller/store/postgres.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_DATABASE_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_DATABASE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/event_log/log_record.h"
#include "controller/store/events/log_terms.h"
#include "controller/store/events/memory_event_log.h"
#include "controller/store/leader/leader_kernel.h"
#include "proto/support/clock.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::simulation {

// The events of one append.
struct AppendedBatch {
  std::vector<controller::LogRecord> records;
  std::vector<v1::ArchivedJob> archived;
};

// Receives the changes of the database, for the checkers.
class DatabaseObserver {
 public:
  virtual ~DatabaseObserver() = default;
  // `writer_term` is the term of the controller that committed, `row_term` the leader's at present.
  virtual void Committed(int64_t writer_term, int64_t row_term, uint64_t first_sequence,
                         const AppendedBatch& batch) = 0;
  virtual void TermBegan(int64_t term, const std::string& holder) = 0;
  // `replaced_sequence` is the last sequence number of the snapshot before; 0 if there was none.
  virtual void SnapshotReplaced(int64_t writer_term, int64_t row_term, uint64_t replaced_sequence,
                                const v1::Snapshot& snapshot) = 0;
  // A candidate ends the session of the leader, which renewed its row `unrenewed_ms` ago.
  virtual void LeaderSessionEnded(int64_t unrenewed_ms) = 0;
  // `session` has ended, by the server or by its client.
  virtual void SessionEnded(int64_t session) = 0;
};

class SimulatedDatabase {
 public:
  // `now` is the clock of the server.
  explicit SimulatedDatabase(std::function<Timestamp()> now);

  // `observer` may be null.
  void SetObserver(DatabaseObserver* observer) { observer_ = observer; }

  int64_t OpenSession();
  // Rolls back the session's transaction and releases its lock.
  void EndSession(int64_t session);
  void EndAllSessions();
  bool HasSession(int64_t session) const { return sessions_.contains(session); }
  bool InTransaction(int64_t session) const;
  std::vector<int64_t> Sessions() const;

  // The following functions carry out controller::LeaderAction.
  bool TryLock(int64_t session);
  void Unlock(int64_t session);
  controller::LeaderRow Look() const;
  // Ends the leader only if its row is still not renewed.
  void EndLockHolder(int64_t seen_session);
  // Returns nullopt as long as an open transaction has locked the row.
  std::optional<int64_t> BeginTerm(int64_t session, int64_t seen_term, const std::string& holder);
  void EndWriters();
  // Does not wait for open transactions: they lock only the term of the row.
  absl::Status Renew(int64_t term);
  // A standby reports that it can take over.
  void Report(const std::string& address) { data_.reported_ms[address] = now_(); }
  // The leader of `term` names the standby that takes over.
  absl::Status NameSuccessor(int64_t term, const std::string& address);
  // The leader of `term` gives up, and the next term is above `seen`. Returns nullopt as BeginTerm
  // does.
  std::optional<absl::Status> PassTerm(int64_t term, int64_t seen);
  // The leader of `term` has confirmed its log. Does nothing if another term has begun.
  void ConfirmLog(int64_t term) {
    if (term == data_.row.term) data_.row.confirmed = true;
  }

  // A transaction of the leader of `term`. ABORTED: another controller leads.
  absl::Status BeginWrite(int64_t session, int64_t term);
  // Adds events to the transaction. INTERNAL: another session has appended `first_sequence`.
  absl::Status Insert(int64_t session, uint64_t first_sequence, uint64_t log_term,
                      AppendedBatch batch);
  void SetSnapshot(int64_t session, const v1::Snapshot& snapshot);
  absl::Status Commit(int64_t session);
  void Rollback(int64_t session);

  // While the disk is full, appends fail with RESOURCE_EXHAUSTED.
  void SetFull(bool is_full) { is_full_ = is_full; }
  bool is_full() const { return is_full_; }

  // Copies all data. PutCopyBack replaces the data by the copy and ends all sessions.
  void TakeCopy() { copy_ = data_; }
  void PutCopyBack();

  int64_t term() const { return data_.row.term; }
  uint64_t last_sequence() const { return data_.last_sequence; }
  const std::vector<controller::LogTerm>& log_terms() const { return data_.log_terms; }
  // Returns an id of a term of the log, never the same twice.
  uint64_t NewLogTerm() { return ++log_terms_given_; }
  // The committed data.
  controller::MemoryEventLog& log() { return *log_; }

 private:
  // The data that a copy of the database contains.
  struct Data {
    struct Row {
      int64_t term = 0;
      std::string holder;
      int64_t session = 0;
      Timestamp renewed_ms = 0;
      std::string successor;
      Timestamp named_ms = 0;
      bool confirmed = false;
    } row;
    std::map<std::string, Timestamp> reported_ms;  // By the address of the standby.
    std::vector<AppendedBatch> batches;
    uint64_t last_sequence = 0;
    std::vector<controller::LogTerm> log_terms;
    std::optional<v1::Snapshot> snapshot;
  };
  struct Transaction {
    int64_t term = 0;
    uint64_t log_term = 0;
    std::vector<AppendedBatch> batches;
    std::optional<v1::Snapshot> snapshot;
  };
  struct Session {
    Timestamp last_statement_ms = 0;
    std::optional<Transaction> transaction;
  };

  bool RowIsLocked() const;
  absl::Status LeadershipLost(int64_t term) const;
  void Apply(const AppendedBatch& batch);

  const std::function<Timestamp()> now_;
  DatabaseObserver* observer_ = nullptr;
  Data data_;
  Data copy_;
  // The committed events again, in the form in which they are read.
  std::unique_ptr<controller::MemoryEventLog> log_;
  std::map<int64_t, Session> sessions_;
  int64_t last_session_ = 0;
  int64_t lock_holder_ = 0;  // 0 if the lock is free.
  uint64_t log_terms_given_ = 0;
  bool is_full_ = false;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_DATABASE_H_
