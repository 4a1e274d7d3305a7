// The attached workers: admission of a worker, its session, and the end of it.
#ifndef TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_
#define TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
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
  // Kept until the AttachWorker request is answered.
  v1::Hello hello;
  // Steady (Observations::stepped_ms).
  int64_t opened_ms = 0;
  // Commands may follow once Welcome is out.
  bool welcomed = false;
  // Acknowledged offset of each stream of the attempts that the worker has.
  StreamOffsets stored;
  // Archived jobs of which the worker has attempts: a node that was away for long. Empty for a
  // deleted one.
  std::map<int64_t, std::optional<JobEntry>> archived;
  // Streams that are not stored: their place in the store is damaged, or they are not this node's.
  // The worker keeps them; no log reader waits for them.
  std::set<StreamKey> quarantined;
  // Messages that the worker has read, and how long others have waited since it read the last one.
  uint64_t taken = 0;
  int64_t unread_ms = 0;
};

int64_t StoredOffset(const StreamOffsets& offsets, const StreamKey& stream);

// True when the report says that the attempt is cleared and all of its streams are stored.
bool AllStored(const Session& session, const v1::AttemptReport& report);
// The same, without the quarantined streams.
bool AllStorableStored(const Session& session, const v1::AttemptReport& report);

class Sessions {
 public:
  // All references outlive this.
  Sessions(const ClusterState& state, Observations& observations, const CoreOptions& options,
           std::string cluster_id, const LogMarks& marks);

  // A worker's Hello: opens its session and submits AttachWorker, or ends the link.
  void Attach(LinkId link, v1::Hello hello, Timestamp now, WorkerActions& actions);
  // AttachWorker was answered: asks for the stored offsets, or ends the link.
  void Attached(LinkId link, const absl::Status& answer, Timestamp now, WorkerActions& actions);
  // Sends Welcome with the stored offsets.
  void Welcome(LinkId link, StreamOffsets offsets, ArchivedJobs archived, WorkerActions& actions);
  // The job is no longer there: workers need not keep anything of it.
  void JobDeleted(int64_t job_id);
  // The link is closed.
  void Detach(LinkId link, WorkerActions& actions);
  // Ends every link with this status and refuses new ones with it.
  void CloseAll(const absl::Status& status, WorkerActions& actions);

  // No heartbeat can be received from a worker that is not read from, so it counts as received.
  void RefreshPausedHeartbeats(const LinkStates& links, Timestamp now);
  // Cuts off workers that have read none of their queued messages for 30 s: they may be stuck, and
  // messages to them must not pile up here. Called once a tick.
  void CutOffSlowWorkers(const LinkStates& links, Timestamp now, WorkerActions& actions);

  // The session of a link or node, or nullptr.
  Session* Find(LinkId link);
  const Session* FindNode(const std::string& node_id) const;
  const std::map<LinkId, Session>& all() const { return sessions_; }

 private:
  absl::Status CheckAttach(const v1::Hello& hello, Timestamp now) const;
  void Erase(const Session& session);

  const ClusterState& state_;
  Observations& observations_;
  const CoreOptions& options_;
  const std::string cluster_id_;
  const LogMarks& marks_;
  absl::Status closed_;
  std::map<LinkId, Session> sessions_;
  // At most one link each.
  std::map<std::string, LinkId> links_by_node_;
  int64_t looked_for_slow_ms_ = 0;  // Steady.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_SESSIONS_H_
