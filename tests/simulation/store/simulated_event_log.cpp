#include "tests/simulation/store/simulated_event_log.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::simulation {

using controller::LogRecord;
using controller::StoreMark;

absl::StatusOr<std::unique_ptr<SimulatedEventLog>> SimulatedEventLog::Open(
    SimulatedDatabase& database, int64_t session, int64_t leader_term) {
  TRAINYARD_RETURN_IF_ERROR(database.BeginWrite(session, leader_term));
  database.Rollback(session);
  return std::unique_ptr<SimulatedEventLog>(new SimulatedEventLog(database, session, leader_term));
}

SimulatedEventLog::SimulatedEventLog(SimulatedDatabase& database, int64_t session,
                                     int64_t leader_term)
    : database_(database),
      session_(session),
      leader_term_(leader_term),
      log_term_(database.NewLogTerm()),
      last_sequence_(database.last_sequence()) {
  terms_.Load(database.log_terms(), last_sequence_);
}

absl::Status SimulatedEventLog::CheckLeads() {
  TRAINYARD_RETURN_IF_ERROR(BeginAppend());
  database_.Rollback(session_);
  return absl::OkStatus();
}

absl::Status SimulatedEventLog::InsertEvents(AppendedBatch batch) {
  return database_.Insert(session_, last_sequence_ + 1, log_term_, std::move(batch));
}

void SimulatedEventLog::AppendEnded(std::size_t events) {
  last_sequence_ += events;
  terms_.Appended(log_term_, last_sequence_);
}

absl::Status SimulatedEventLog::Append(const std::vector<LogRecord>& events,
                                       const std::vector<v1::ArchivedJob>& archived) {
  if (events.empty()) return absl::OkStatus();
  for (const LogRecord& event : events) {
    if (v1::Event().ParseFromString(event.payload)) continue;
    return absl::InternalError("an event cannot be read back");
  }
  TRAINYARD_RETURN_IF_ERROR(BeginAppend());
  TRAINYARD_RETURN_IF_ERROR(InsertEvents({events, archived}));
  TRAINYARD_RETURN_IF_ERROR(CommitAppend());
  AppendEnded(events.size());
  return absl::OkStatus();
}

absl::Status SimulatedEventLog::TryWrite() {
  TRAINYARD_RETURN_IF_ERROR(CheckLeads());
  return database_.is_full() ? absl::ResourceExhaustedError("the disk of the database is full")
                             : absl::OkStatus();
}

absl::Status SimulatedEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  return WriteSnapshot(snapshot, session_);
}

absl::Status SimulatedEventLog::WriteSnapshot(const v1::Snapshot& snapshot, int64_t session) {
  if (snapshot.last_sequence() > last_sequence_) {
    return absl::InvalidArgumentError(absl::StrCat("the snapshot contains events up to ",
                                                   snapshot.last_sequence(),
                                                   " but the log ends at ", last_sequence_));
  }
  controller::LogTerms present;
  present.Load(database_.log_terms(), database_.last_sequence());
  if (!present.Covers(terms_.MarkOf(snapshot.last_sequence()))) {
    return absl::AbortedError("an older copy has replaced the database");
  }
  TRAINYARD_RETURN_IF_ERROR(database_.BeginWrite(session, leader_term_));
  database_.SetSnapshot(session, snapshot);
  return database_.Commit(session);
}

absl::StatusOr<controller::EventLog::Recovery> SimulatedEventLog::Recover() {
  TRAINYARD_ASSIGN_OR_RETURN(Recovery recovery, data().Recover());
  if (recovery.last_sequence == last_sequence_) return recovery;
  return absl::DataLossError(absl::StrCat("events up to ", recovery.last_sequence,
                                          " can be read, but the log ends with event ",
                                          last_sequence_));
}

absl::StatusOr<controller::EventLog::Recovery> SimulatedEventLog::ReadUpTo(uint64_t last_sequence) {
  return data().ReadUpTo(last_sequence);
}

void SimulatedEventLog::NoteStore(const std::string& store, const StoreMark& mark) {
  data().NoteStore(store, mark);
}

absl::StatusOr<std::map<std::string, StoreMark>> SimulatedEventLog::StoreMarks() {
  return data().StoreMarks();
}

absl::StatusOr<std::vector<v1::Event>> SimulatedEventLog::ReadJobEvents(int64_t job_id, int limit) {
  return data().ReadJobEvents(job_id, limit);
}

absl::StatusOr<std::vector<v1::EventEntry>> SimulatedEventLog::ReadEventsBefore(int64_t job_id,
                                                                                uint64_t before,
                                                                                int limit) {
  return data().ReadEventsBefore(job_id, before, limit);
}

absl::StatusOr<std::vector<v1::EventEntry>> SimulatedEventLog::ReadEventsAfter(uint64_t after,
                                                                               int limit) {
  return data().ReadEventsAfter(after, limit);
}

absl::StatusOr<controller::StoreUsage> SimulatedEventLog::Usage() { return data().Usage(); }

absl::StatusOr<int64_t> SimulatedEventLog::NextJob(int64_t after) { return data().NextJob(after); }

absl::StatusOr<int64_t> SimulatedEventLog::JobBytes(int64_t job_id) {
  return data().JobBytes(job_id);
}

absl::StatusOr<bool> SimulatedEventLog::DropJobEvents(int64_t job_id) {
  TRAINYARD_RETURN_IF_ERROR(CheckLeads());
  return data().DropJobEvents(job_id);
}

absl::StatusOr<bool> SimulatedEventLog::DropNodeEvents(int64_t before_ms) {
  TRAINYARD_RETURN_IF_ERROR(CheckLeads());
  return data().DropNodeEvents(before_ms);
}

absl::StatusOr<std::optional<v1::Event>> SimulatedEventLog::FindDeletion(int64_t job_id) {
  return data().FindDeletion(job_id);
}

absl::StatusOr<std::vector<v1::EventEntry>> SimulatedEventLog::OpenDeletions(uint64_t after) {
  return data().OpenDeletions(after);
}

absl::StatusOr<bool> SimulatedEventLog::FinishDeletion(int64_t job_id) {
  TRAINYARD_RETURN_IF_ERROR(CheckLeads());
  return data().FinishDeletion(job_id);
}

}  // namespace trainyard::simulation
