// Carries out the decisions about attempts (attempts.h) in order, retries failed writes until they
// succeed, and passes each result back to Attempts. Disk and processes are accessed only through
// AttemptIo, so that the daemon and the simulation use the same rules.
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
  // Milliseconds of a clock that never goes back. Deadlines use this clock, so that a change of the
  // wall clock cannot kill a rank early.
  Timestamp steady_ms = 0;
  // Used in facts.
  Timestamp wall_ms = 0;
};

// The state of a rank according to its files and the process table.
struct RankStatus {
  enum class Presence { kNeverStarted, kStarting, kRunning, kEnded };
  Presence presence = Presence::kNeverStarted;
  // Process id of the rank; 0 if unknown.
  int64_t pid = 0;
  Timestamp started_ms = 0;
  // Set for kEnded.
  v1::RankExited exited;
  // True if the rank has ended but some of its processes may still run.
  bool processes_remain = false;
};

// Access to disk, processes and streams of the node. An implementation must not destroy the kernel
// during a call.
class AttemptIo {
 public:
  virtual ~AttemptIo() = default;

  // Writes the attempt's folder, so that the attempt is known after a restart. INVALID_ARGUMENT if
  // the job, not the node, is the cause of the failure.
  virtual absl::Status CreateAttempt(const v1::StartAttempt& command) = 0;
  // Durably records that this node has received the attempt.
  virtual absl::Status RememberAttempt(const AttemptKey& attempt) = 0;
  // Assigns a number to the fact and makes the fact durable. After that the fact can be sent.
  virtual absl::Status RecordFact(const v1::Fact& fact) = 0;
  virtual absl::Status RemoveAttempt(const AttemptKey& attempt) = 0;

  // AddStreams starts, and RemoveStreams stops, sending the files of the attempt's ranks.
  virtual void AddStreams(const v1::StartAttempt& command) = 0;
  virtual void RemoveStreams(const AttemptKey& attempt) = 0;
  // Adds the ranks' state, read from their files, to the report. If the attempt is cleared, also
  // adds the end offsets of the attempt's streams.
  virtual void Describe(v1::AttemptReport& report) = 0;

  // After Launch, the implementation calls Launched or LaunchFailed, immediately or later. After
  // Observe, the implementation calls Observed, unless the state cannot be read now.
  virtual void Launch(const v1::StartAttempt& command, const RankKey& rank) = 0;
  // If the rank's process has not been created yet, the implementation calls LaunchFailed.
  // Otherwise the call has no effect.
  virtual void CancelLaunch(const RankKey& rank) = 0;
  // Sends SIGTERM, or SIGKILL if `kill` is true. The implementation calls Killed if a SIGKILL is
  // delivered to the rank's processes.
  virtual void Signal(const RankKey& rank, bool kill) = 0;
  // Sends SIGUSR1, or SIGUSR2 if `second` is true, to the rank's own process.
  virtual void SendUserSignal(const RankKey& rank, bool second) = 0;
  // Replaces the rank's order file.
  virtual absl::Status WriteOrder(const RankKey& rank, const std::string& order) = 0;
  virtual void Observe(const RankKey& rank) = 0;
  // Describes the threads of the process `pid` and where each of them waits. Does not block.
  virtual std::string Stacks(int64_t pid) = 0;

  // Writes to the worker's own log.
  virtual void Warn(const std::string& text) = 0;
};

class AttemptKernel {
 public:
  // Both arguments must outlive this object.
  AttemptKernel(AttemptIo& io, FactQueue& facts) : io_(io), facts_(facts) {}

  // Rebuilds the state from the disk after a start of the worker, and observes ranks that may be
  // alive. `lost` contains the attempts whose start command is lost. Only their job, attempt and
  // ranks are set. These attempts are stopped.
  void Restore(const SeenAttempts& seen_attempts, const std::vector<v1::StartAttempt>& on_disk,
               const std::vector<v1::StartAttempt>& lost = {});

  void Start(const v1::StartAttempt& command, const WorkerTime& now);
  void Stop(const v1::StopAttempt& command, const WorkerTime& now);
  void Forget(const v1::ForgetAttempt& command, const WorkerTime& now);
  void StopAll(Timestamp grace_ms_max, const WorkerTime& now);
  // Writes the orders for the ranks that run on this node. A failed write is retried when the
  // controller repeats the command.
  void Heal(const v1::HealAttempt& command);
  // Sends the signal of the warning to the ranks that run on this node.
  void WarnRanks(const v1::WarnAttempt& command);

  // Sends the kills that are due, retries failed writes and observes the ranks' processes. Call
  // several times a second.
  void Tick(const WorkerTime& now);

  // Call when the controller has acknowledged facts up to facts.acknowledged().
  absl::Status FactsAcknowledged();

  // Launched, LaunchFailed and Observed report the results of Launch and Observe:
  // - Launched: the rank was spawned, or may have been. Observed will report its state.
  // - LaunchFailed: the rank has no process. `fault` states whether the job or the node is the
  //   cause.
  // - Observed: the state of the rank.
  void Launched(const RankKey& rank) { attempts_.SpawnUncertain(rank); }
  void LaunchFailed(const RankKey& rank, const std::string& error, v1::StartFault fault,
                    const WorkerTime& now);
  void Observed(const RankKey& rank, const RankStatus& status, const WorkerTime& now);
  // Call when a SIGKILL was delivered (see Attempts::RankKilled).
  void Killed(const RankKey& rank, bool waits_in_kernel, const WorkerTime& now);

  // Sends SIGKILL to a running rank that exceeds a limit of the node, and records `reason` in the
  // rank's exit. Repeat the call until the rank has ended.
  void EndForLimit(const RankKey& rank, const std::string& reason);

  const Attempts& attempts() const { return attempts_; }
  // True if all actions that must be on disk are written.
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
  // RememberAttempt, RecordFact and RemoveAttempt actions that are not yet carried out, in order.
  // If the write of the first action fails, the write is retried.
  std::deque<Action> unwritten_;
  std::string last_write_error_;
  Timestamp retry_write_at_ms_ = 0;
  Timestamp observe_at_ms_ = 0;
  // The reasons passed to EndForLimit, kept until the attempt is forgotten.
  std::map<RankKey, std::string> limits_exceeded_;
  // The thread stacks of ranks, taken before the ranks were stopped. The stacks are kept until the
  // attempt is forgotten.
  std::map<RankKey, std::string> stacks_;
  // The number of the newest acknowledged fact that FactsAcknowledged has processed.
  uint64_t acknowledged_seen_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_ATTEMPT_KERNEL_H_
