// The life of attempts on this node. Pure: commands, rank exits and time go in, actions come out.
//
// An attempt is identified by job and number. Only the oldest attempt of a job with processes left
// may run; a newer one waits until all of these processes are gone. An attempt number is never
// started again after its attempt was stopped or forgotten: the answer to such a command is
// AttemptCleared.
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

// Write the attempt's folder so that it is known after a restart.
struct CreateAttempt {
  AttemptKey attempt;
};
// Durably record that this attempt was seen.
struct RememberAttempt {
  AttemptKey attempt;
};
struct SpawnRank {
  RankKey rank;
};
// Cancel the spawn of the rank. A launch still waiting for a file server fails now. Any other
// launch continues, and RankSpawned then leads to a signal.
struct CancelSpawn {
  RankKey rank;
};
// Send SIGTERM, or SIGKILL, to the rank's process group.
struct SendSignal {
  RankKey rank;
  bool kill = false;
};
// Number the fact, make it durable, send it.
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
// Carry them out in this order.
using Actions = std::vector<Action>;

// A rank of an attempt that is not cleared. `state`: see RankLife::Name.
struct RankView {
  RankKey key;
  int slot = 0;
  const char* state = "";
};

// Exit code of a rank that could not be spawned, by the convention of shells.
inline constexpr int kSpawnFailedExitCode = 127;

// Time from SIGTERM to SIGKILL for an attempt whose command, which has the job's grace, is lost.
inline constexpr Timestamp kLostGraceMs = 10'000;

// `now` is the time in milliseconds of any clock that never goes back. Times in facts are those of
// the caller's wall clock.
class Attempts {
 public:
  // Rebuilds the state from the disk after a start of the worker. A rank without an exit in `facts`
  // is unresolved until RankSpawned, RankEnded or RankNeverSpawned resolves it. A rank with an exit
  // counts as exiting until RankGone. Only job, attempt and ranks of the attempts in `lost` are
  // known: their ranks are not spawned, and Tick stops them.
  void Restore(const SeenAttempts& seen_attempts, const std::vector<v1::StartAttempt>& on_disk,
               const std::vector<v1::Fact>& facts, const std::vector<v1::StartAttempt>& lost = {});

  // Commands. Repeating one changes nothing, except that a shorter grace moves the kill earlier. A
  // start command has its `processes` (WithProcesses).
  Actions Start(const v1::StartAttempt& command, Timestamp now);
  Actions Stop(const v1::StopAttempt& command, Timestamp now);
  Actions Forget(const v1::ForgetAttempt& command);
  // Ranks whose order of this generation must be written: ranks in the command that have not ended
  // and whose written order, if any, is older. Empty while the attempt is being stopped.
  std::vector<RankKey> OrdersDue(const v1::HealAttempt& command) const;
  // Reports that the order of this generation is in the rank's order file.
  void OrderWritten(const RankKey& key, int64_t generation);
  // Stops every attempt: SIGTERM, then SIGKILL after the job's own grace, but after `grace_ms_max`
  // at the latest.
  Actions StopAll(Timestamp grace_ms_max, Timestamp now);

  // Results of SpawnRank and CreateAttempt, and observed states of unresolved ranks.
  Actions RankSpawned(const RankKey& key, int64_t pid, Timestamp started_ms);
  // The rank may or may not have been spawned: it becomes unresolved.
  void SpawnUncertain(const RankKey& key);
  Actions RankNeverSpawned(const RankKey& key);
  // The attempt's folder could not be created.
  Actions CreationFailed(const AttemptKey& key, const std::string& error, v1::StartFault fault,
                         Timestamp time_ms);
  // A rank ended. With `spawn_error` set it was never spawned and is gone. Otherwise it may have
  // left processes that live until RankGone.
  Actions RankEnded(const v1::RankExited& exited);
  Actions RankGone(const RankKey& key);
  // A SIGKILL was delivered to the rank's processes. `waits_in_kernel`: some survived, all of them
  // in uninterruptible sleep.
  Actions RankKilled(const RankKey& key, bool waits_in_kernel, Timestamp now);

  // The controller has stored the attempt's AttemptCleared. An attempt that never had a rank here
  // is erased.
  void ClearedAcknowledged(const AttemptKey& key);

  // Sends the due kills.
  Actions Tick(Timestamp now);

  // Ranks whose processes are to be observed: unresolved, running or exiting.
  std::vector<RankKey> RanksToObserve() const;
  // True once the rank can no longer write: it is gone, or never existed.
  bool IsGone(const RankKey& key) const;
  // True when the command of the attempt is lost (see Restore).
  bool IsLost(const AttemptKey& key) const;
  // True when the start of the rank is recorded: it is never spawned again.
  bool WasStarted(const RankKey& key) const;
  // True while SpawnRank of this rank has no result yet.
  bool IsSpawning(const RankKey& key) const;
  // Process id of a running rank; 0 if it is not running or its id is unknown.
  int64_t PidOf(const RankKey& key) const;
  // True while any rank may still run; unkillable ranks do not count.
  bool AnyAlive() const;
  bool Contains(const AttemptKey& key) const { return attempts_.contains(key); }
  // The command of an attempt that has ranks here, or nullptr.
  const v1::StartAttempt* CommandOf(const AttemptKey& key) const;
  std::vector<RankView> Ranks() const;
  // One report per attempt: its ranks and whether it is cleared. The caller adds step, phase and
  // activity.
  std::vector<v1::AttemptReport> Reports() const;

 private:
  using Rank = RankLife;
  using Stage = RankLife::Stage;
  struct Attempt {
    v1::StartAttempt command;  // Has no processes when the attempt was never started here.
    std::map<int, Rank> ranks;
    bool stopping = false;
    bool killing = false;
    Timestamp kill_at_ms = 0;  // Valid when stopping.
    bool cleared = false;
    // Reset when AttemptCleared is recorded again.
    bool cleared_acknowledged = false;
    bool lost = false;  // The command is unknown: the attempt must be stopped.
  };

  void RestoreOne(const v1::StartAttempt& command);
  const Rank* FindRank(const RankKey& key) const;
  Rank* FindRank(const RankKey& key);
  // Newest known attempt of the job; 0 if none. Includes attempts on the node that seen_attempts_
  // has dropped.
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
