// The life of attempts on this node. Pure: commands, rank exits and times are the input, actions
// are the output.
//
// An attempt is identified by job and number. If several attempts of a job have processes, only the
// oldest may run; newer attempts wait until all processes of older ones are gone. A stopped or
// forgotten attempt is never started again: a command to start it is answered with AttemptCleared.
#ifndef TRAINYARD_WORKER_CORE_ATTEMPTS_H_
#define TRAINYARD_WORKER_CORE_ATTEMPTS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/rank_life.h"
#include "worker/core/seen_attempts.h"

namespace trainyard::worker {

struct RankKey {
  AttemptKey attempt;
  int rank = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

// Write the attempt's folder, so that the attempt is known after a restart.
struct CreateAttempt {
  AttemptKey attempt;
};
// Durably record that this node has received the attempt.
struct RememberAttempt {
  AttemptKey attempt;
};
struct SpawnRank {
  RankKey rank;
};
// Cancel the spawn of the rank. A launch that still waits for a file server fails now. Any other
// launch continues, and the rank is sent a signal after RankSpawned.
struct CancelSpawn {
  RankKey rank;
};
// Send SIGTERM or SIGKILL to the rank's process group.
struct SendSignal {
  RankKey rank;
  bool kill = false;
};
// Assign a number to the fact, make the fact durable, and send it.
struct RecordFact {
  v1::Fact fact;
};
struct RemoveAttempt {
  AttemptKey attempt;
};
// The command was invalid and changed nothing; `reason` is for the worker's own log.
struct RefuseCommand {
  std::string reason;
};
using Action = std::variant<CreateAttempt, RememberAttempt, SpawnRank, CancelSpawn, SendSignal,
                            RecordFact, RemoveAttempt, RefuseCommand>;
// Must be carried out in this order.
using Actions = std::vector<Action>;

// A rank of an attempt that is not cleared. `state` is one of the texts of RankLife::Name.
struct RankView {
  RankKey key;
  int slot = 0;
  const char* state = "";
  // True for the first rank of a process, which has the files of the process.
  bool is_first = true;
};

// The exit code reported for a rank that could not be spawned. Shells use the same code.
inline constexpr int kSpawnFailedExitCode = 127;

// The time from SIGTERM to SIGKILL for an attempt whose command is lost. The job's own grace was
// part of the command and is therefore unknown.
inline constexpr Timestamp kLostGraceMs = 10'000;

// `now` is the time in milliseconds of any clock that never goes back. Times in facts are the
// caller's wall-clock times.
class Attempts {
 public:
  // Rebuilds the state from the disk after a start of the worker. A rank whose exit is not in
  // `facts` is unresolved until RankSpawned, RankEnded or RankNeverSpawned is called. Any other
  // rank counts as exiting until RankGone is called. For attempts in `lost`, only job, attempt and
  // ranks are known. Tick stops these attempts, and their ranks are not spawned.
  void Restore(const SeenAttempts& seen_attempts, const std::vector<v1::StartAttempt>& on_disk,
               const std::vector<v1::Fact>& facts, const std::vector<v1::StartAttempt>& lost = {});

  // Start, Stop and Forget apply commands of the controller. Repeating a command changes nothing,
  // with one exception: a stop with a shorter grace moves the kill earlier. A start command must
  // have its `processes` set (WithProcesses).
  Actions Start(const v1::StartAttempt& command, Timestamp now);
  Actions Stop(const v1::StopAttempt& command, Timestamp now);
  Actions Forget(const v1::ForgetAttempt& command);
  // Returns the ranks of the command whose order file must be written: running ranks without an
  // order of this generation or a newer one. Returns no ranks while the attempt is being
  // stopped.
  std::vector<RankKey> OrdersDue(const v1::HealAttempt& command) const;
  // Call when the rank's order file contains the order of this generation.
  void OrderWritten(const RankKey& key, int64_t generation);
  // Returns the running ranks without this warning. The caller sends the signal to each of them.
  // After a restart of the worker, a rank may get a warning once more.
  // Returns no ranks while the attempt is being stopped.
  std::vector<RankKey> WarningsDue(const v1::WarnAttempt& command);
  // Stops every attempt: sends SIGTERM now, and SIGKILL after the job's own grace or
  // `grace_ms_max`, whichever is shorter.
  Actions StopAll(Timestamp grace_ms_max, Timestamp now);

  // The next functions report results of SpawnRank and CreateAttempt, and the states of unresolved
  // ranks.
  Actions RankSpawned(const RankKey& key, int64_t pid, Timestamp started_ms);
  // Call if the rank may or may not have been spawned. The rank becomes unresolved (see
  // Restore).
  void SpawnUncertain(const RankKey& key);
  Actions RankNeverSpawned(const RankKey& key);
  // Call if the attempt's folder could not be created.
  Actions CreationFailed(const AttemptKey& key, const std::string& error, v1::StartFault fault,
                         Timestamp time_ms);
  // Call when a rank has ended. If `spawn_error` is set, the rank was never spawned and is gone.
  // Otherwise processes of the rank may remain until RankGone is called.
  Actions RankEnded(const v1::RankExited& exited);
  Actions RankGone(const RankKey& key);
  // Call when a SIGKILL was delivered to the rank's processes. `waits_in_kernel` is true if some
  // processes survived, all of them in uninterruptible sleep.
  Actions RankKilled(const RankKey& key, bool waits_in_kernel, Timestamp now);

  // Call when the controller has stored the attempt's AttemptCleared. An attempt that never had a
  // rank here is erased.
  void ClearedAcknowledged(const AttemptKey& key);

  // Returns the kills that are due.
  Actions Tick(Timestamp now);

  // Returns the ranks whose processes must be observed: all unresolved, running and exiting
  // ranks.
  std::vector<RankKey> RanksToObserve() const;
  // True once the rank can no longer write, because it is gone or never existed.
  bool IsGone(const RankKey& key) const;
  // True when the command of the attempt is lost (see Restore).
  bool IsLost(const AttemptKey& key) const;
  // True if the start of the rank is recorded. Such a rank is never spawned again.
  bool WasStarted(const RankKey& key) const;
  // True while SpawnRank of this rank has no result yet.
  bool IsSpawning(const RankKey& key) const;
  // Returns the process id of a running rank; 0 if the rank is not running or its process id is
  // unknown.
  int64_t PidOf(const RankKey& key) const;
  // True while any rank may still run. Unkillable ranks do not count.
  bool AnyAlive() const;
  bool Contains(const AttemptKey& key) const { return attempts_.contains(key); }
  // Returns the attempt's command; nullptr if the attempt has no ranks on this node.
  const v1::StartAttempt* CommandOf(const AttemptKey& key) const;
  std::vector<RankView> Ranks() const;
  // Returns one report per attempt. A report states the ranks and whether the attempt is cleared.
  // The caller adds step, phase and activity.
  std::vector<v1::AttemptReport> Reports() const;

 private:
  using Rank = RankLife;
  using Stage = RankLife::Stage;
  struct Attempt {
    v1::StartAttempt command;  // Has no processes if the attempt was never started here.
    // One entry per process, by its first rank. The other ranks of a process have the same life.
    std::map<int, Rank> ranks;
    bool stopping = false;
    bool killing = false;
    Timestamp kill_at_ms = 0;  // Valid only while the attempt is being stopped.
    bool cleared = false;
    // Set to false whenever AttemptCleared is recorded again.
    bool cleared_acknowledged = false;
    bool lost = false;  // True if the command is unknown. The attempt must then be stopped.
  };

  void RestoreOne(const v1::StartAttempt& command);
  const Rank* FindRank(const RankKey& key) const;
  Rank* FindRank(const RankKey& key);
  // Returns the number of the newest known attempt of the job; 0 if none. Counts attempts on this
  // node even if seen_attempts_ has dropped their job.
  int64_t NewestSeen(int64_t job_id) const;
  void RaiseSeenAttempt(const AttemptKey& key, Actions& actions);
  void StopOne(const AttemptKey& key, Attempt& attempt, Timestamp grace_ms, Timestamp now,
               Actions& actions);
  void KillIfDue(const AttemptKey& key, Attempt& attempt, Timestamp now, Actions& actions);
  void SignalAlive(const AttemptKey& key, const Attempt& attempt, bool kill, Actions& actions);
  void RecordStarted(const RankKey& key, Rank& rank, int64_t pid, Timestamp time_ms,
                     Actions& actions);
  // Clears attempts without processes and spawns the ranks that no longer have to wait.
  void Advance(int64_t job_id, Actions& actions);
  static void RecordCleared(const AttemptKey& key, Attempt& attempt, Actions& actions);
  void ApplyFact(const v1::Fact& fact);

  SeenAttempts seen_attempts_;
  std::map<AttemptKey, Attempt> attempts_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_ATTEMPTS_H_
