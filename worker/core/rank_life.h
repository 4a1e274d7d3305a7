// The life of one rank on this node, from waiting to be spawned until its last process is gone.
#ifndef TRAINYARD_WORKER_CORE_RANK_LIFE_H_
#define TRAINYARD_WORKER_CORE_RANK_LIFE_H_

#include <cstdint>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::worker {

// The interval at which SIGKILL is repeated while a rank has processes left.
inline constexpr Timestamp kKillAgainMs = 5000;

// A rank is unkillable if all of its remaining processes wait in the kernel after this many
// consecutive SIGKILLs. Such processes will never run program code again. An unkillable rank keeps
// its slot but no longer blocks newer attempts of its job. The SIGKILLs must be at least
// kKillAgainMs / 2 apart. Only delivered ones count, because a kill may wait behind a launch.
inline constexpr int kUnkillableAfterKills = 4;

struct RankLife {
  enum class Stage {
    kWaiting,     // Waits for processes of an older attempt of the job.
    kSpawning,    // SpawnRank was returned to the caller and has no result yet.
    kUnresolved,  // Restored from disk; may have a process.
    kRunning,
    kExiting,  // RankExited is recorded; processes may be left.
    kGone,
    kCancelled,  // Stopped before it was spawned: never had a process.
  };

  static Stage StageAfter(const v1::RankExited& exited);

  // False if the rank has no process now and will never have one again.
  bool IsAlive() const { return stage != Stage::kGone && stage != Stage::kCancelled; }
  // True while a process of the rank may run program code.
  bool MayRun() const { return IsAlive() && !unkillable; }
  // Returns "waiting" (for the processes of an older attempt to end), "starting", "running",
  // "exiting" (ended, but processes may be left) or "ended".
  const char* Name() const;
  // Call when a SIGKILL was delivered to the rank's processes. `waits_in_kernel` is true if some
  // processes survived, all of them in uninterruptible sleep. Returns true if the rank is
  // unkillable from now on.
  bool Killed(bool waits_in_kernel, Timestamp now);
  // Returns a text for users about an unkillable rank.
  std::string UnkillableText() const;

  Stage stage = Stage::kWaiting;
  bool started_recorded = false;
  int64_t pid = 0;  // 0 if unknown.
  // The number of consecutive delivered kills after which all remaining processes waited in the
  // kernel.
  int vain_kills = 0;
  Timestamp killed_in_vain_ms = 0;  // Time of the newest kill in vain_kills.
  bool unkillable = false;
  int64_t ordered_generation = 0;  // Newest order written since the worker's start.
  int warning = 0;  // Newest warning before a time limit, sent since the worker's start.
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_RANK_LIFE_H_
