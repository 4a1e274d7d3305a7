// Carries out the decisions about attempts (attempts.h) in order, retries failed writes until they
// succeed, and reports each result back to the decisions. Disk and processes are behind AttemptIo,
// so that the daemon and the simulation run the same rules.
#ifndef TRAINYARD_WORKER_CORE_ATTEMPT_KERNEL_H_
#define TRAINYARD_WORKER_CORE_ATTEMPT_KERNEL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"
#include "worker/core/fact_queue.h"

namespace trainyard::worker {

struct WorkerTime {
  // Milliseconds of a clock that never goes back: setting the wall clock must not kill a rank
  // early.
  Timestamp steady_ms = 0;
  // Used in facts.
  Timestamp wall_ms = 0;
};

// State of a rank, read from its files and the process table.
struct RankStatus {
  enum class Presence { kNeverStarted, kStarting, kRunning, kEnded };
  Presence presence = Presence::kNeverStarted;
  // Process id of the rank; 0 if unknown.
  int64_t pid = 0;
  Timestamp started_ms = 0;
  // Set for kEnded.
  v1::RankExited exited;
  // True while an ended rank may have processes left.
  bool processes_remain = false;
};

// Disk, processes and streams of the node. Calls must not destroy the kernel.
class AttemptIo {
 public:
  virtual ~AttemptIo() = default;

  // Writes the attempt's folder, so that the attempt is known after a restart. INVALID_ARGUMENT
  // when the job is at fault rather than the node.
  virtual absl::Status CreateAttempt(const v1::StartAttempt& command) = 0;
  // Durably records that the attempt was seen.
  virtual absl::Status RememberAttempt(const AttemptKey& attempt) = 0;
  // Numbers the fact and makes it durable; it is sent from then on.
  virtual absl::Status RecordFact(const v1::Fact& fact) = 0;
  virtual absl::Status RemoveAttempt(const AttemptKey& attempt) = 0;

  // Start and stop sending the files of the attempt's ranks.
  virtual void AddStreams(const v1::StartAttempt& command) = 0;
  virtual void RemoveStreams(const AttemptKey& attempt) = 0;
  // Adds the state read from the ranks' files, and the stream ends of a cleared attempt.
  virtual void Describe(v1::AttemptReport& report) = 0;

  // Launch leads to a call of Launched or LaunchFailed, immediately or later. Observe leads to a
  // call of Observed, or to none if the state cannot be read now.
  virtual void Launch(const v1::StartAttempt& command, const RankKey& rank) = 0;
  // Leads to LaunchFailed if the launch has not reached the process table; otherwise has no effect.
  virtual void CancelLaunch(const RankKey& rank) = 0;
  // A kill delivered to the rank's processes leads to a call of Killed.
  virtual void Signal(const RankKey& rank, bool kill) = 0;
  // Replaces the rank's order file.
  virtual absl::Status WriteOrder(const RankKey& rank, const std::string& order) = 0;
  virtual void Observe(const RankKey& rank) = 0;
  // Describes the threads of the rank's process `pid` and where each one waits. Does not block.
  virtual std::string Stacks(int64_t pid) = 0;

  // Writes to the worker's own log.
  virtual void Warn(const std::string& text) = 0;
};

class AttemptKernel {
 public:
  // Both outlive this.
  AttemptKernel(AttemptIo& io, FactQueue& facts) : io_(io), facts_(facts) {}

  // Rebuilds the state from the disk after a start of the worker, and observes ranks that may be
  // alive. `lost`: attempts whose command is lost; only job, attempt and ranks are set. These
  // attempts are stopped.
  void Restore(const SeenAttempts& seen_attempts, const std::vector<v1::StartAttempt>& on_disk,
               const std::vector<v1::StartAttempt>& lost = {});

  void Start(const v1::StartAttempt& command, const WorkerTime& now);
  void Stop(const v1::StopAttempt& command, const WorkerTime& now);
  void Forget(const v1::ForgetAttempt& command, const WorkerTime& now);
  void StopAll(Timestamp grace_ms_max, const WorkerTime& now);
  // Writes the orders of the ranks running here. A failed write is retried when the command is
  // repeated.
  void Heal(const v1::HealAttempt& command);

  // Sends the due kills, retries failed writes and observes the ranks' processes. Call it several
  // times a second.
  void Tick(const WorkerTime& now);

  // Call it when the controller has acknowledged facts up to facts.acknowledged().
  absl::Status FactsAcknowledged();

  // Results of Launch and Observe. Launched: the rank was or may have been spawned; Observed then
  // reports its state. LaunchFailed: the rank has no process, and `fault` names the side to blame.
  void Launched(const RankKey& rank) { attempts_.SpawnUncertain(rank); }
  void LaunchFailed(const RankKey& rank, const std::string& error, v1::StartFault fault,
                    const WorkerTime& now);
  void Observed(const RankKey& rank, const RankStatus& status, const WorkerTime& now);
  // A kill was delivered; see Attempts::RankKilled.
  void Killed(const RankKey& rank, bool waits_in_kernel, const WorkerTime& now);

  // Ends a running rank that exceeds a limit of the node by SIGKILL, and records `reason` in its
  // exit. Repeat the call until the rank has ended.
  void EndForLimit(const RankKey& rank, const std::string& reason);

  // The core, for reading only.
  const Attempts& attempts() const { return attempts_; }
  // True when every action's record is on disk.
  bool AllWritten() const { return unwritten_.empty(); }
  std::vector<v1::AttemptReport> Reports();

 private:
  void TakeStacks(const v1::StopAttempt& command);
  void CarryOut(const Actions& actions, const WorkerTime& now);
  void CarryOutOne(const Action& action, const WorkerTime& now);
  void Create(const AttemptKey& attempt, const WorkerTime& now);
  void Spawn(const RankKey& rank);
  void Ended(const RankKey& rank, v1::RankExited exited, const WorkerTime& now);
  void WriteAhead(const WorkerTime& now);
  absl::Status Write(const Action& action);

  AttemptIo& io_;
  FactQueue& facts_;
  Attempts attempts_;
  // Pending RememberAttempt, RecordFact and RemoveAttempt, in order. A failed write of the front is
  // retried.
  std::deque<Action> unwritten_;
  std::string last_write_error_;
  Timestamp retry_write_at_ms_ = 0;
  Timestamp observe_at_ms_ = 0;
  // Reasons passed to EndForLimit, kept until the attempt is forgotten.
  std::map<RankKey, std::string> limits_exceeded_;
  // Thread stacks taken before ranks were stopped, kept until the attempt is forgotten.
  std::map<RankKey, std::string> stacks_;
  // Newest acknowledged fact that FactsAcknowledged has handled.
  uint64_t acknowledged_seen_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_ATTEMPT_KERNEL_H_
