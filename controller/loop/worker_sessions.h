// Connects the rules for attached workers (controller/kernel/worker_kernel.h) with the loop, the
// storage thread and the worker streams. Only OnMessage, OnClosed and CloseAll may be called on
// threads other than the loop thread.
#ifndef TRAINYARD_CONTROLLER_LOOP_WORKER_SESSIONS_H_
#define TRAINYARD_CONTROLLER_LOOP_WORKER_SESSIONS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "controller/kernel/worker_kernel.h"
#include "controller/loop/ingest.h"
#include "controller/loop/loop.h"
#include "controller/rpc/worker_link.h"

namespace trainyard::controller {

class WorkerSessions final : public WorkerListener {
 public:
  // All references must outlive this object. Construct before the loop starts.
  WorkerSessions(Loop& loop, Ingest& ingest, EventLog& event_log, std::string cluster_id);

  void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                 ReadPermits permits) override;
  void OnClosed(const std::shared_ptr<WorkerLink>& link) override;

  // Sets the function that is called on the loop thread with new telemetry (not received before).
  // Call before the loop starts.
  void OnTelemetry(TelemetryPath::Observe observe) { kernel_.OnTelemetry(std::move(observe)); }

  // Sets the function that is called on the loop thread if the mark of a worker shows that the log
  // has lost events, and CoreOptions::stop_on_lost_events is set. It must end the process. Call
  // before the loop starts.
  void OnLostEvents(std::function<void(const absl::Status& cause)> on_lost_events) {
    on_lost_events_ = std::move(on_lost_events);
  }

  // Sets the function that is called on the loop thread if a worker has seen a leader of a higher
  // term. The function must not block. Call before the loop starts.
  void OnHigherTerm(std::function<void(int64_t term)> on_higher_term) {
    on_higher_term_ = std::move(on_higher_term);
  }

  // Ends every stream with this status and refuses new streams with it. May be called on any
  // thread.
  void CloseAll(const absl::Status& status);

  // Checks that the node's worker is connected and understands OpenExec, and sends it the message.
  // Errors as in WorkerKernel::LinkForExec. Call on the loop thread.
  absl::Status CheckExec(const std::string& node_id) const;
  absl::Status SendExec(const std::string& node_id, v1::OpenExec message);

  // Returns true if the store has all output of the job that its nodes can still send.
  bool OutputComplete(const JobEntry& entry, const ClusterView& view) const {
    return kernel_.OutputComplete(entry, view);
  }

 private:
  WorkerKernel::Options KernelOptions(std::string cluster_id);
  // Returns true if the log contains the event of a worker's mark.
  bool Covers(const v1::LogMark& mark) const;
  LinkId IdOf(const std::shared_ptr<WorkerLink>& link);
  // Returns the key under which the link's work waits in the loop's queue. The queue serves the
  // keys in turn.
  const void* TurnOf(LinkId id) const;

  void CarryOut(WorkerActions actions);
  void CarryOut(SendMessage& action);
  void CarryOut(EndLink& action);
  void CarryOut(SubmitRequest& action);
  void CarryOut(ReadOffsets& action);
  void CarryOut(StoreTelemetry& action);
  void CarryOut(StoreOutput& action);
  void CarryOut(HigherTermSeen& action);
  void CarryOut(ScheduleTick& action);
  static void CarryOut(WriteLog& action);
  // May be called on any thread.
  absl::StatusOr<std::vector<v1::Event>> ReadEvents(int64_t job_id, int limit);
  ArchivedJobs ReadArchived(const std::set<int64_t>& job_ids);
  // Returns the callback that the storage thread calls with the result of storing `stream`.
  Stored ToKernel(LinkId link, const v1::StreamId& stream, Permit permit);

  Loop& loop_;
  Ingest& ingest_;
  EventLog& event_log_;

  // Used only on the loop thread.
  WorkerKernel kernel_;
  std::function<void(const absl::Status& cause)> on_lost_events_;
  std::function<void(int64_t term)> on_higher_term_;
  LinkId last_link_ = 0;
  std::map<LinkId, std::shared_ptr<WorkerLink>> links_;
  std::map<const WorkerLink*, LinkId> ids_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_WORKER_SESSIONS_H_
