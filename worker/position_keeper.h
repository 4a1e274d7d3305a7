// Keeps on disk what the next start of the worker must know about the controller: the offset up to
// which it has stored each stream, the newest mark of its event log, and the highest term of a
// leader.
#ifndef TRAINYARD_WORKER_POSITION_KEEPER_H_
#define TRAINYARD_WORKER_POSITION_KEEPER_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/seen_log.h"
#include "worker/core/stream_position.h"
#include "worker/core/term_fence.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/leader_term_file.h"
#include "worker/spool/log_mark_file.h"
#include "worker/spool/stored_offsets.h"

namespace trainyard::worker {

// Used by one thread.
class PositionKeeper {
 public:
  using Clock = std::chrono::steady_clock;

  // Interval between writes.
  static constexpr std::chrono::milliseconds kEvery{5000};

  // Reads the mark of this cluster.
  PositionKeeper(const DataDir& data_dir, const std::string& cluster_id);

  // Returns the offsets that the last run of the worker recorded.
  std::vector<StreamPosition> ReadOffsets() const { return stored_offsets_.Read(); }
  // The mark to send in Hello. The sequence is 0 before the first mark is received.
  const v1::LogMark& newest_mark() const { return seen_log_.newest(); }

  // The term to send in Hello.
  int64_t leader_term() const { return term_fence_.highest(); }

  // Returns ABORTED if the message is from a leader of a lower term than this node has seen. Writes
  // a higher term to disk at once.
  absl::Status Admit(const v1::ControllerMessage& message, const std::string& cluster_id);
  void Take(const v1::Welcome& welcome) { seen_log_.Take(welcome.log_mark()); }
  // Records the mark in the message. Writes the mark to disk at once if the message must not be
  // carried out before.
  void Take(const v1::ControllerMessage& message, const std::string& cluster_id);
  // Writes the positions and the mark if at least kEvery has passed since the last write.
  void Keep(const std::vector<StreamPosition>& positions, const std::string& cluster_id,
            Clock::time_point now);

 private:
  void KeepMark(const std::string& cluster_id);

  StoredOffsets stored_offsets_;
  const LogMarkFile log_mark_file_;
  SeenLog seen_log_;
  absl::Status mark_error_;  // The newest error, which is not logged again.
  const LeaderTermFile leader_term_file_;
  TermFence term_fence_;
  Clock::time_point due_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_POSITION_KEEPER_H_
