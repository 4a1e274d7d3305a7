// The sessions of attached workers: their admission, their state and their end.
#ifndef TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_
#define TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/decide/decide.h"
#include "controller/core/decide/references.h"
#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "controller/kernel/worker_actions.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct Session {
  LinkId link = 0;
  std::string node_id;
  std::string incarnation;
  // Stored until AttachWorker is answered.
  v1::Hello hello;
  // Steady time (Observations::stepped_ms).
  int64_t opened_ms = 0;
  // Hello.serves_exec.
  bool serves_exec = false;
  // True after Welcome was sent. Commands may be sent only after Welcome.
  bool welcomed = false;
  // The acknowledged offset of each stream of the worker's attempts.
  StreamOffsets stored;
  // The archived jobs whose attempts the worker still has. Empty unless the worker was
  // disconnected for a long time.
  // nullopt for a deleted job.
  std::map<int64_t, std::optional<JobEntry>> archived;
  // Streams that cannot be stored: the stream's data in the store is damaged, or the stream belongs
  // to another node. The worker keeps the data, and log readers do not wait for the data.
  std::set<StreamKey> quarantined;
  // The number of messages read by the worker, and the time that queued messages have waited since
  // the worker's last read.
  uint64_t taken = 0;
  int64_t unread_ms = 0;
};

int64_t StoredOffset(const StreamOffsets& offsets, const StreamKey& stream);

// Returns true if the attempt is reported as cleared and all its streams are stored.
bool AllStored(const Session& session, const v1::AttemptReport& report);
// Like AllStored, but ignores quarantined streams.
bool AllStorableStored(const Session& session, const v1::AttemptReport& report);

class Sessions {
 public:
  // All references must outlive this object.
  Sessions(const ClusterState& state, Observations& observations, const CoreOptions& options,
           std::string cluster_id, const LogMarks& marks);

  // Handles a worker's Hello: opens the worker's session and submits AttachWorker, or ends the
  // link.
  void Attach(LinkId link, v1::Hello hello, Timestamp now, WorkerActions& actions);
  // Handles the answer to AttachWorker: requests the stored offsets, or ends the link.
  void Attached(LinkId link, const absl::Status& answer, Timestamp now, WorkerActions& actions);
  // Sends Welcome with the stored offsets.
  void Welcome(LinkId link, StreamOffsets offsets, ArchivedJobs archived, WorkerActions& actions);
  // Handles the deletion of the job: from now on, workers need not keep the job's data.
  void JobDeleted(int64_t job_id);
  // Call when the link is closed.
  void Detach(LinkId link, WorkerActions& actions);
  // Ends every link with this status, and refuses new links with it.
  void CloseAll(const absl::Status& status, WorkerActions& actions);

  // Counts a heartbeat as received from each worker that cannot send one: workers without a
  // Welcome, and workers from which the controller does not read at the moment.
  void RefreshPausedHeartbeats(const LinkStates& links, Timestamp now);
  // Disconnects workers that have read none of their queued messages for 30 s. Such a worker may be
  // stuck, and its messages must not accumulate in the controller. Call once per tick.
  void CutOffSlowWorkers(const LinkStates& links, Timestamp now, WorkerActions& actions);

  // Find and FindNode return the session of a link or node, or nullptr if there is none.
  Session* Find(LinkId link);
  const Session* FindNode(const std::string& node_id) const;
  // See WorkerKernel.
  absl::StatusOr<LinkId> LinkForExec(const std::string& node_id) const;
  const std::map<LinkId, Session>& all() const { return sessions_; }

 private:
  // Returns an error if the worker is not the node that it names, or is of another cluster.
  absl::Status CheckOrigin(const v1::Hello& hello) const;
  // Returns false if a term is so high that the file in which the worker keeps it must be damaged.
  bool IsPlausible(int64_t term) const;
  // Returns the error for a worker that has seen this term, which is above that of this controller.
  absl::Status TermError(int64_t term) const;
  absl::Status CheckAttach(const v1::Hello& hello, Timestamp now) const;
  void Erase(const Session& session);

  const ClusterState& state_;
  Observations& observations_;
  const CoreOptions& options_;
  const std::string cluster_id_;
  const LogMarks& marks_;
  absl::Status closed_;
  std::map<LinkId, Session> sessions_;
  // Contains at most one link per node.
  std::map<std::string, LinkId> links_by_node_;
  int64_t looked_for_slow_ms_ = 0;  // Steady time.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_
