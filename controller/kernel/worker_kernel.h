// The rules for attached workers as one: messages, answers, stored offsets and time go in, actions
// come out. No thread, clock or disk: the daemon and the simulation drive the same rules.
#ifndef TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_
#define TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/api/cluster_loop.h"
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

  // The references outlive this. `observations` is written to.
  WorkerKernel(const ClusterState& state, Observations& observations, const CoreOptions& core,
               Options options);

  // Receives telemetry that was not received before, after it was observed.
  void OnTelemetry(TelemetryPath::Observe observe) { telemetry_.SetObserver(std::move(observe)); }

  // A message of a worker; the first one of a link is a Hello, and no later one is. Messages of a
  // link without a session are ignored: the worker sends them again on another link.
  WorkerActions Receive(LinkId link, v1::WorkerMessage message, Permit permit, Timestamp now);
  WorkerActions Closed(LinkId link);
  // Ends every link with this status and refuses new ones with it.
  WorkerActions CloseAll(const absl::Status& status);

  // Results of SubmitRequest, ReadOffsets, StoreTelemetry and StoreOutput. `stored` is the number
  // of bytes that the store has of the stream; OUT_OF_RANGE when bytes before these are missing,
  // DATA_LOSS when the stream is quarantined.
  WorkerActions Answered(const RequestTag& tag, const absl::Status& answer, Timestamp now);
  WorkerActions OffsetsRead(LinkId link, StreamOffsets offsets, LoggedAlerts alerts,
                            ArchivedJobs archived);
  WorkerActions Stored(LinkId link, const v1::StreamId& stream,
                       const absl::StatusOr<int64_t>& stored);

  // To be called at the begin of each tick, and after each commit with what it committed.
  WorkerActions BeforeTick(Timestamp now);
  WorkerActions AfterCommit(const ClusterView& view, const TickSummary& summary);

  // True when the store holds all output of the job that its nodes can still send.
  bool OutputComplete(const JobEntry& entry, const ClusterView& view) const {
    return IsOutputComplete(entry, view, sessions_);
  }

 private:
  // Adds the newest mark to messages after which a worker must not forget the events so far.
  void AddMarks(WorkerActions& actions) const;
  // Sends the newest mark to all workers now and then, also to those without a rank.
  void SendMarks(Timestamp now, WorkerActions& actions);
  // Alerts are read from the log once for each attempt.
  void LeaveOutLoaded(WorkerActions& actions);
  void SubmitFact(const Session& session, v1::Fact fact, Permit permit, WorkerActions& actions);
  // Records which starts were handed to streams.
  void NoteStarts(const WorkerActions& actions);
  void FactAnswered(LinkId link, const absl::Status& answer, WorkerActions& actions);

  const ClusterState& state_;
  Observations& observations_;
  const LinkStates links_;
  const LogMarks marks_;
  Sessions sessions_;
  TelemetryPath telemetry_;
  CommandSender commands_;
  Timestamp marks_sent_ms_ = 0;
  uint64_t mark_sent_ = 0;  // Its sequence number.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_WORKER_KERNEL_H_
