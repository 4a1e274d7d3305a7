// All rules for attached workers. The inputs are messages, answers, stored offsets and time; the
// outputs are actions. Uses no thread, clock or disk, so that the daemon and the simulation run the
// same rules.
#ifndef TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_
#define TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/kernel/command_sender.h"
#include "controller/kernel/output_complete.h"
#include "controller/kernel/sessions.h"
#include "controller/kernel/telemetry_path.h"
#include "controller/kernel/worker_actions.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class WorkerKernel {
 public:
  struct Options {
    std::string cluster_id;
    LinkStates links;
    LogMarks marks;
  };

  // The references must outlive this object. Writes to `observations`.
  WorkerKernel(const ClusterState& state, Observations& observations, const CoreOptions& core,
               Options options);

  // Sets the function that receives each batch of new telemetry after it was added to the
  // observations.
  void OnTelemetry(TelemetryPath::Observe observe) { telemetry_.SetObserver(std::move(observe)); }

  // Handles a worker's message. A link must start with a Hello, which must not be repeated.
  // Messages of a link without a session are ignored; the worker resends them on another link.
  WorkerActions Receive(LinkId link, v1::WorkerMessage message, Permit permit, Timestamp now);
  WorkerActions Closed(LinkId link);
  // Ends every link with this status, and refuses new links with it.
  WorkerActions CloseAll(const absl::Status& status);

  // The next functions receive the results of SubmitRequest, ReadOffsets, StoreTelemetry and
  // StoreOutput. `stored` is the number of stored bytes of the stream, or an error. OUT_OF_RANGE:
  // bytes before the sent bytes are missing. DATA_LOSS: the stream is quarantined.
  WorkerActions Answered(const RequestTag& tag, const absl::Status& answer, Timestamp now);
  WorkerActions OffsetsRead(LinkId link, StreamOffsets offsets, LoggedAlerts alerts,
                            ArchivedJobs archived);
  WorkerActions Stored(LinkId link, const v1::StreamId& stream,
                       const absl::StatusOr<int64_t>& stored);

  // Call BeforeTick at the beginning of each tick, and AfterCommit after each commit with the
  // committed events.
  WorkerActions BeforeTick(Timestamp now);
  WorkerActions AfterCommit(const ClusterView& view, const TickSummary& summary);

  // Returns the link to which OpenExec can be sent for this node. FAILED_PRECONDITION: the node's
  // worker is not connected, or is of a release without exec.
  absl::StatusOr<LinkId> LinkForExec(const std::string& node_id) const {
    return sessions_.LinkForExec(node_id);
  }

  // Returns true if the store has all output of the job that its nodes can still send.
  bool OutputComplete(const JobEntry& entry, const ClusterView& view) const {
    return IsOutputComplete(entry, view, sessions_);
  }

 private:
  // Adds the term of this leader to each message. A worker executes no message without it.
  WorkerActions WithTerm(WorkerActions actions) const;
  // Adds the newest mark to each message that reports committed events, so that the worker
  // remembers the position of the event log.
  void AddMarks(WorkerActions& actions) const;
  // If the newest mark has changed, sends the mark to all workers with a Welcome, including workers
  // without a rank. Sends at most once every 5 s.
  void SendMarks(Timestamp now, WorkerActions& actions);
  // Removes from ReadOffsets actions the attempts whose alerts are already loaded, because alerts
  // are read from the log only once.
  void LeaveOutLoaded(WorkerActions& actions);
  void SubmitFact(const Session& session, v1::Fact fact, Permit permit, WorkerActions& actions);
  // Remembers the StartAttempt messages that were passed to workers' streams.
  void NoteStarts(const WorkerActions& actions);
  void FactAnswered(LinkId link, const absl::Status& answer, WorkerActions& actions);

  const ClusterState& state_;
  Observations& observations_;
  const int64_t leader_term_;
  const LinkStates links_;
  const LogMarks marks_;
  Sessions sessions_;
  TelemetryPath telemetry_;
  CommandSender commands_;
  Timestamp marks_sent_ms_ = 0;
  uint64_t mark_sent_ = 0;  // The sequence number of the last mark sent.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_
