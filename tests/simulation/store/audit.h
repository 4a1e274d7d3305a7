// Checks the rules of several controllers on one store, at each change and each message:
//
// - One term appends at a time, and terms in the log never decrease. A term has one holder.
// - Each acknowledged request is in the log exactly once, and each request at most once.
// - No worker obeys a term below one that it has seen.
// - The state of a leader is the fold of the log, as is the state of a controller that starts.
// - No command is sent before its event is committed.
// - A controller that does not lead answers nobody.
// - A candidate ends the session of a leader only if the row was not renewed in time.
// - A snapshot does not replace a newer one, and is written by the leader.
#ifndef TRAINYARD_TESTS_SIMULATION_STORE_AUDIT_H_
#define TRAINYARD_TESTS_SIMULATION_STORE_AUDIT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "controller/core/state/cluster_state.h"
#include "proto/contract/attempt_key.h"
#include "tests/simulation/store/simulated_database.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::simulation {

class Audit final : public DatabaseObserver {
 public:
  // The first violation; "" if there is none.
  const std::string& failure() const { return failure_; }

  // DatabaseObserver
  void Committed(int64_t writer_term, int64_t row_term, uint64_t first_sequence,
                 const AppendedBatch& batch) override;
  void TermBegan(int64_t term, const std::string& holder) override;
  void SnapshotReplaced(int64_t writer_term, int64_t row_term, uint64_t replaced_sequence,
                        const v1::Snapshot& snapshot) override;
  void LeaderSessionEnded(int64_t unrenewed_ms) override;
  void SessionEnded(int64_t session) override { on_session_ended_(session); }
  void OnSessionEnded(std::function<void(int64_t)> act) { on_session_ended_ = std::move(act); }

  // The database was replaced by an older copy, which has the events up to the present end of
  // `log`. Requests that the copy lacks are lost.
  void Restored(controller::MemoryEventLog& log);
  bool restored() const { return restored_; }

  // A controller has read the log up to `last_sequence`, or a leader has committed up to it.
  void CheckState(const controller::ClusterState& state, uint64_t last_sequence);
  // A leader of `term` sends the answer to a client. `row_term` is the present leader's term.
  void CheckAnswers(int64_t term, int64_t row_term);
  void CheckSubmitted(const std::string& request_id, int64_t job_id);
  void CheckStopped(int64_t job_id);
  // A client received an answer that no leader gives.
  void CheckAnswer(const std::string& wrong) { Fail(wrong); }
  // A leader sends a message to a worker. `decided` is true while events of the leader are decided
  // but not known to be committed.
  void CheckMessage(const std::string& node_id, const v1::ControllerMessage& message, bool decided);
  void CheckObeyed(const std::string& node_id, const v1::ControllerMessage& message);

  int64_t commits() const { return commits_; }
  int64_t highest_term() const { return highest_term_; }
  uint64_t last_sequence() const { return last_sequence_; }

 private:
  void Fail(std::string text);
  void Learn(const v1::Event& event);
  void LearnJob(const v1::Event& event);

  std::string failure_;
  std::function<void(int64_t)> on_session_ended_;
  // The fold of the log.
  controller::ClusterState state_;
  uint64_t last_sequence_ = 0;
  int64_t newest_term_ = 0;  // Of the newest event.
  int64_t highest_term_ = 0;
  std::map<int64_t, std::string> holders_;         // By term.
  std::map<std::string, std::set<int64_t>> jobs_;  // The jobs of each request id.
  // Jobs and stops of logs replaced by a restore.
  std::map<std::string, std::set<int64_t>> lost_jobs_;
  std::set<int64_t> lost_stops_;
  std::map<int64_t, int> stops_;                   // The number of stops of each job.
  std::map<std::string, uint64_t> facts_;          // The newest fact of each node.
  std::set<AttemptKey> placed_;
  std::set<int64_t> ending_;               // Jobs with an event after which an attempt is stopped.
  std::map<std::string, int64_t> obeyed_;  // The highest term that each node has obeyed.
  int64_t commits_ = 0;
  bool restored_ = false;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_STORE_AUDIT_H_
