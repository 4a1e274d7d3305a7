#include "tests/simulation/store/simulated_database.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"

namespace trainyard::simulation {

SimulatedDatabase::SimulatedDatabase(std::function<Timestamp()> now)
    : now_(std::move(now)), log_(std::make_unique<controller::MemoryEventLog>()) {}

int64_t SimulatedDatabase::OpenSession() {
  sessions_[++last_session_].last_statement_ms = now_();
  return last_session_;
}

void SimulatedDatabase::EndSession(int64_t session) {
  if (sessions_.erase(session) == 0) return;
  if (lock_holder_ == session) lock_holder_ = 0;
  if (observer_ != nullptr) observer_->SessionEnded(session);
}

void SimulatedDatabase::EndAllSessions() {
  for (const int64_t session : Sessions()) EndSession(session);
}

std::vector<int64_t> SimulatedDatabase::Sessions() const {
  std::vector<int64_t> all;
  for (const auto& [id, session] : sessions_) all.push_back(id);
  return all;
}

bool SimulatedDatabase::InTransaction(int64_t session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.transaction.has_value();
}

bool SimulatedDatabase::TryLock(int64_t session) {
  sessions_.at(session).last_statement_ms = now_();
  if (lock_holder_ == 0) lock_holder_ = session;
  return lock_holder_ == session;
}

void SimulatedDatabase::Unlock(int64_t session) {
  if (lock_holder_ == session) lock_holder_ = 0;
}

controller::LeaderRow SimulatedDatabase::Look() const {
  const auto reported = data_.reported_ms.find(data_.row.successor);
  const Timestamp reported_ms = reported == data_.reported_ms.end() ? 0 : reported->second;
  return {.term = data_.row.term,
          .holder = data_.row.holder,
          .session = data_.row.session,
          .unrenewed_ms = now_() - data_.row.renewed_ms,
          .successor = data_.row.successor,
          .named_ms = now_() - data_.row.named_ms,
          .reported_ms = now_() - reported_ms,
          .confirmed = data_.row.confirmed};
}

void SimulatedDatabase::EndLockHolder(int64_t seen_session) {
  if (lock_holder_ == 0) return;
  const bool leads =
      lock_holder_ == seen_session && Look().unrenewed_ms >= controller::kTakeOverAfterMs;
  const Timestamp idle_ms = now_() - sessions_.at(lock_holder_).last_statement_ms;
  if (!leads && idle_ms <= controller::kTakeOverAfterMs) return;
  if (leads && observer_ != nullptr) observer_->LeaderSessionEnded(Look().unrenewed_ms);
  EndSession(lock_holder_);
}

std::optional<int64_t> SimulatedDatabase::BeginTerm(int64_t session, int64_t seen_term,
                                                    const std::string& holder) {
  if (RowIsLocked()) return std::nullopt;
  if (data_.row.term != seen_term) return 0;
  data_.row = {.term = controller::NextTerm(seen_term),
               .holder = holder,
               .session = session,
               .renewed_ms = now_()};
  if (observer_ != nullptr) observer_->TermBegan(data_.row.term, holder);
  return data_.row.term;
}

void SimulatedDatabase::EndWriters() {
  for (const int64_t session : Sessions()) {
    if (InTransaction(session)) EndSession(session);
  }
}

bool SimulatedDatabase::RowIsLocked() const {
  return std::ranges::any_of(sessions_,
                             [](const auto& one) { return one.second.transaction.has_value(); });
}

absl::Status SimulatedDatabase::LeadershipLost(int64_t term) const {
  return absl::AbortedError(absl::StrCat("the leadership of term ", term, " is lost, because term ",
                                         data_.row.term, " has begun; nothing was written"));
}

absl::Status SimulatedDatabase::Renew(int64_t term) {
  if (data_.row.term != term) return LeadershipLost(term);
  data_.row.renewed_ms = now_();
  return absl::OkStatus();
}

absl::Status SimulatedDatabase::NameSuccessor(int64_t term, const std::string& address) {
  if (data_.row.term != term) return LeadershipLost(term);
  data_.row.successor = address;
  data_.row.named_ms = now_();
  return absl::OkStatus();
}

std::optional<absl::Status> SimulatedDatabase::PassTerm(int64_t term, int64_t seen) {
  if (data_.row.term != term) return LeadershipLost(term);
  if (RowIsLocked()) return std::nullopt;
  data_.row.term = std::max(term, seen);
  return LeadershipLost(term);
}

absl::Status SimulatedDatabase::BeginWrite(int64_t session, int64_t term) {
  if (!controller::MayWrite(term, data_.row.term)) return LeadershipLost(term);
  sessions_.at(session).transaction.emplace().term = term;
  return absl::OkStatus();
}

absl::Status SimulatedDatabase::Insert(int64_t session, uint64_t first_sequence, uint64_t log_term,
                                       AppendedBatch batch) {
  if (is_full_) {
    Rollback(session);
    return absl::ResourceExhaustedError("the disk of the database is full");
  }
  Transaction& transaction = *sessions_.at(session).transaction;
  if (first_sequence != data_.last_sequence + 1) {
    Rollback(session);
    return absl::InternalError(absl::StrCat("event ", first_sequence, " exists already"));
  }
  transaction.log_term = log_term;
  transaction.batches.push_back(std::move(batch));
  return absl::OkStatus();
}

void SimulatedDatabase::SetSnapshot(int64_t session, const v1::Snapshot& snapshot) {
  sessions_.at(session).transaction->snapshot = snapshot;
}

void SimulatedDatabase::Apply(const AppendedBatch& batch) {
  log_->Append(batch.records, batch.archived).IgnoreError();
}

absl::Status SimulatedDatabase::Commit(int64_t session) {
  auto& open = sessions_.at(session).transaction;
  if (!open.has_value()) return absl::InternalError("the transaction has failed");
  const Transaction transaction = *std::exchange(open, std::nullopt);
  for (const AppendedBatch& batch : transaction.batches) {
    const uint64_t first = data_.last_sequence + 1;
    Apply(batch);
    data_.last_sequence += batch.records.size();
    if (data_.log_terms.empty() || data_.log_terms.back().id != transaction.log_term) {
      data_.log_terms.push_back({first, transaction.log_term});
    }
    data_.batches.push_back(batch);
    if (observer_ != nullptr) {
      observer_->Committed(transaction.term, data_.row.term, first, batch);
    }
  }
  if (transaction.snapshot.has_value()) {
    const uint64_t replaced = data_.snapshot.has_value() ? data_.snapshot->last_sequence() : 0;
    data_.snapshot = transaction.snapshot;
    log_->WriteSnapshot(*data_.snapshot).IgnoreError();
    if (observer_ != nullptr) {
      observer_->SnapshotReplaced(transaction.term, data_.row.term, replaced, *data_.snapshot);
    }
  }
  return absl::OkStatus();
}

void SimulatedDatabase::Rollback(int64_t session) {
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.transaction.reset();
  }
}

void SimulatedDatabase::PutCopyBack() {
  EndAllSessions();
  data_ = copy_;
  log_ = std::make_unique<controller::MemoryEventLog>();
  for (const AppendedBatch& batch : data_.batches) Apply(batch);
  if (data_.snapshot.has_value()) log_->WriteSnapshot(*data_.snapshot).IgnoreError();
}

}  // namespace trainyard::simulation
