// The event log of one controller in a simulated database, fenced by the term of its leader as
// PostgresEventLog is.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_EVENT_LOG_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_EVENT_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/events/event_log.h"
#include "controller/store/events/log_terms.h"
#include "tests/simulation/store/simulated_database.h"

namespace trainyard::simulation {

class SimulatedEventLog final : public controller::EventLog {
 public:
  // `session` must be open, and `database` must outlive this object. ABORTED: another controller
  // leads.
  static absl::StatusOr<std::unique_ptr<SimulatedEventLog>> Open(SimulatedDatabase& database,
                                                                 int64_t session,
                                                                 int64_t leader_term);

  // The steps of Append, for callers that pause between them. Call AppendEnded with the result of
  // CommitAppend once the answer has arrived.
  absl::Status BeginAppend() { return database_.BeginWrite(session_, leader_term_); }
  absl::Status InsertEvents(AppendedBatch batch);
  absl::Status CommitAppend() { return database_.Commit(session_); }
  void AppendEnded(std::size_t events);
  // A snapshot is written in a session of its own.
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot, int64_t session);

  absl::StatusOr<Recovery> Recover() override;
  absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) override;
  using EventLog::Append;
  absl::Status Append(const std::vector<controller::LogRecord>& events,
                      const std::vector<v1::ArchivedJob>& archived) override;
  v1::LogMark NewestMark() const override { return terms_.Newest(); }
  bool Covers(const v1::LogMark& mark) const override { return terms_.Covers(mark); }
  void NoteStore(const std::string& store, const controller::StoreMark& mark) override;
  absl::StatusOr<std::map<std::string, controller::StoreMark>> StoreMarks() override;
  controller::JobArchive& archive() override { return data().archive(); }
  absl::Status TryWrite() override;
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id, uint64_t before,
                                                               int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after, int limit) override;
  absl::StatusOr<controller::StoreUsage> Usage() override;
  absl::StatusOr<int64_t> NextJob(int64_t after) override;
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override;
  absl::StatusOr<bool> Reclaim() override { return data().Reclaim(); }
  absl::StatusOr<bool> DropJobEvents(int64_t job_id) override;
  absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) override;
  absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) override;
  absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) override;
  absl::StatusOr<bool> FinishDeletion(int64_t job_id) override;

  uint64_t last_sequence() const { return last_sequence_; }

 private:
  SimulatedEventLog(SimulatedDatabase& database, int64_t session, int64_t leader_term);

  controller::MemoryEventLog& data() { return database_.log(); }
  // Returns ABORTED if another controller leads.
  absl::Status CheckLeads();

  SimulatedDatabase& database_;
  const int64_t session_;
  const int64_t leader_term_;
  const uint64_t log_term_;
  uint64_t last_sequence_;
  controller::LogTerms terms_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_SIMULATED_EVENT_LOG_H_
