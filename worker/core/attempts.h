// The life of attempts on this node. Pure: commands, rank exits and time go in, actions come out.
//
// An attempt is known by job and number. Of the attempts of one job only the oldest that still has
// a process may run; a newer one waits until every process of the older ones is gone. An attempt
// number that was seen once is never started again after its attempt has been stopped or forgotten:
// a command to do so is answered by AttemptCleared.
#ifndef TRAINYARD_WORKER_CORE_ATTEMPTS_H_
#define TRAINYARD_WORKER_CORE_ATTEMPTS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/seen_attempts.h"

namespace trainyard::worker {

struct AttemptKey {
  int64_t job_id = 0;
  int64_t number = 0;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

struct RankKey {
  AttemptKey attempt;
  int rank = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

// Write the attempt's folder so that it is known after a restart.
struct CreateAttempt {
  AttemptKey attempt;
};
// Make durable that this attempt was seen.
struct RememberAttempt {
  int64_t job_id = 0;
  int64_t attempt = 0;
};
struct SpawnRank {
  RankKey rank;
};
// The rank is not to be spawned any more. Where its launch still waits for a file server it fails
// now; else nothing happens, and RankSpawned leads to a signal.
struct CancelSpawn {
  RankKey rank;
};
// SIGTERM, or SIGKILL, to the rank's process group.
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
// The command broke a rule and changed nothing; the reason is for the worker's own log.
struct RefuseCommand {
  std::string reason;
};
using Action = std::variant<CreateAttempt, RememberAttempt, SpawnRank, CancelSpawn, SendSignal,
                            RecordFact, RemoveAttempt, RefuseCommand>;
// To be carried out in this order.
using Actions = std::vector<Action>;

// A rank of an attempt that is not cleared. `state`: "waiting" (for the processes of an older
// attempt to end), "starting", "running", "exiting" (it has ended, processes of it may live),
// "ended".
struct RankView {
  RankKey key;
  int slot = 0;
  const char* state = "";
};

// Exit code of a rank that could not be spawned, as a shell gives it.
inline constexpr int kSpawnFailedExitCode = 127;

// SIGKILL is sent again this often while a rank has not ended.
inline constexpr Timestamp kKillAgainMs = 5000;

// Time from SIGTERM to SIGKILL for an attempt whose command, and with it the job's grace, is lost.
inline constexpr Timestamp kLostGraceMs = 10'000;

// A rank whose processes all wait in the kernel after each of so many SIGKILLs, at least
// kKillAgainMs / 2 apart, never runs a line of its program again, so it holds its slot but no newer
// attempt of its job. Counted in signals that were delivered: a kill may wait behind a launch, and
// a worker that was paused has seen nothing meanwhile.
inline constexpr int kUnkillableAfterKills = 4;

// `now` is any clock that never goes back, in milliseconds; times in facts are the caller's wall
// clock.
class Attempts {
 public:
  // Builds the state from the disk after a start of the worker. A rank without an exit in `facts`
  // is unresolved until RankSpawned, RankEnded or RankNeverSpawned resolves it. A rank with an exit
  // counts as exiting until RankGone. Of the attempts in `lost` only job, attempt and ranks are
  // known: no rank of theirs is spawned, and Tick stops them.
  void Restore(const SeenAttempts& seen_attempts, const std::vector<v1::StartAttempt>& on_disk,
               const std::vector<v1::Fact>& facts, const std::vector<v1::StartAttempt>& lost = {});

  // Commands. Repeating one changes nothing, but that a shorter grace brings the kill forward.
  Actions Start(const v1::StartAttempt& command, Timestamp now);
  Actions Stop(const v1::StopAttempt& command, Timestamp now);
  Actions Forget(const v1::ForgetAttempt& command);
  // Ranks whose order of this generation is to be written: those of the command that have not ended
  // and have no order as new. None for an attempt that is being stopped.
  std::vector<RankKey> OrdersDue(const v1::HealAttempt& command) const;
  // The order of this generation is in the rank's order file.
  void OrderWritten(const RankKey& key, int64_t generation);
  // Stops every attempt: SIGTERM, then SIGKILL after the job's own grace, at most `grace_ms_max`.
  Actions StopAll(Timestamp grace_ms_max, Timestamp now);

  // Results of SpawnRank and CreateAttempt, and observed states of unresolved ranks.
  Actions RankSpawned(const RankKey& key, int64_t pid, Timestamp started_ms);
  // It is not yet known whether the rank was spawned: the rank is unresolved from now.
  void SpawnUncertain(const RankKey& key);
  Actions RankNeverSpawned(const RankKey& key);
  // The attempt's folder could not be made.
  Actions CreationFailed(const AttemptKey& key, const std::string& error, v1::StartFault fault,
                         Timestamp time_ms);
  // A rank ended, or could not be spawned (`spawn_error` set: it is gone too). Else processes that
  // it left behind may still live until RankGone.
  Actions RankEnded(const v1::RankExited& exited);
  Actions RankGone(const RankKey& key);
  // A SIGKILL was delivered to the processes of the rank. `waits_in_kernel`: some live on, all of
  // them in uninterruptible sleep.
  Actions RankKilled(const RankKey& key, bool waits_in_kernel, Timestamp now);

  // The controller has stored the AttemptCleared of an attempt. An attempt that never had a rank
  // here is erased.
  void ClearedAcknowledged(const AttemptKey& key);

  // Sends the kills that are due; to be called at NextDeadline() or later.
  Actions Tick(Timestamp now);
  std::optional<Timestamp> NextDeadline() const;

  // Ranks whose processes are to be observed: unresolved, running or exiting.
  std::vector<RankKey> RanksToObserve() const;
  // True once the rank writes no more: it is gone, or never was.
  bool IsGone(const RankKey& key) const;
  // True when the command of the attempt was lost (see Restore).
  bool IsLost(const AttemptKey& key) const;
  // True when it is recorded that the rank was started: it is never spawned again.
  bool WasStarted(const RankKey& key) const;
  // True while SpawnRank of this rank awaits its answer.
  bool IsSpawning(const RankKey& key) const;
  // Process id of a rank that runs; 0 when it does not, or its id is not known.
  int64_t PidOf(const RankKey& key) const;
  // True while some rank may run.
  bool AnyAlive() const;
  bool Contains(const AttemptKey& key) const { return attempts_.contains(key); }
  // The command of an attempt that has ranks here, or nullptr.
  const v1::StartAttempt* CommandOf(const AttemptKey& key) const;
  std::vector<RankView> Ranks() const;
  // One report for each attempt: its ranks and whether it is cleared. The caller fills in step,
  // phase and activity.
  std::vector<v1::AttemptReport> Reports() const;

 private:
  enum class Stage {
    kWaiting,     // An older attempt of the job still has processes.
    kSpawning,    // SpawnRank was returned to the caller.
    kUnresolved,  // Restored from disk; may have a process.
    kRunning,
    kExiting,  // RankExited is recorded; it may have left processes behind.
    kGone,
    kCancelled,  // Stopped before it was spawned: never had a process.
  };
  struct Rank {
    Stage stage = Stage::kWaiting;
    bool started_recorded = false;
    int64_t pid = 0;  // 0 while it is not known.
    // Kills delivered in a row that left all its processes waiting in the kernel.
    int vain_kills = 0;
    Timestamp killed_in_vain_ms = 0;  // The newest of them.
    bool unkillable = false;
    int64_t ordered_generation = 0;  // Of the newest order written since the worker started.
  };
  struct Attempt {
    v1::StartAttempt command;  // Without ranks when the attempt was never started here.
    std::map<int, Rank> ranks;
    bool stopping = false;
    bool killing = false;
    Timestamp kill_at_ms = 0;  // Valid when stopping.
    bool cleared = false;
    // Reset when it is recorded again.
    bool cleared_acknowledged = false;
    bool lost = false;  // Its command is not known: it is to be stopped.
  };

  static bool IsAlive(Stage stage);
  static const char* NameOf(Stage stage);
  void RestoreOne(const v1::StartAttempt& command);
  static Stage StageAfter(const v1::RankExited& exited);
  const Rank* FindRank(const RankKey& key) const;
  Rank* FindRank(const RankKey& key);
  // Of this job, also while an attempt is on the node that seen_attempts_ has forgotten; 0 for
  // none.
  int64_t NewestSeen(int64_t job_id) const;
  void RaiseSeenAttempt(const AttemptKey& key, Actions& actions);
  void StopOne(const AttemptKey& key, Attempt& attempt, Timestamp grace_ms, Timestamp now,
               Actions& actions);
  void KillIfDue(const AttemptKey& key, Attempt& attempt, Timestamp now, Actions& actions);
  static std::string UnkillableText(const Rank& rank);
  void SignalAlive(const AttemptKey& key, const Attempt& attempt, bool kill, Actions& actions);
  void RecordStarted(const RankKey& key, Rank& rank, int64_t pid, Timestamp time_ms,
                     Actions& actions);
  // Clears attempts that have no process left and spawns the ranks that no longer have to wait.
  void Advance(int64_t job_id, Actions& actions);
  static void RecordCleared(const AttemptKey& key, Attempt& attempt, Actions& actions);
  void ApplyFact(const v1::Fact& fact);

  SeenAttempts seen_attempts_;
  std::map<AttemptKey, Attempt> attempts_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_ATTEMPTS_H_
