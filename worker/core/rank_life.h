// The life of one rank on this node, from waiting to be spawned until its last process is gone.
#ifndef TRAINYARD_WORKER_CORE_RANK_LIFE_H_
#define TRAINYARD_WORKER_CORE_RANK_LIFE_H_

#include <cstdint>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::worker {

// Interval between SIGKILLs while a rank has processes left.
inline constexpr Timestamp kKillAgainMs = 5000;

// A rank is unkillable after this many consecutive SIGKILLs, at least kKillAgainMs / 2 apart, that
// left all its processes waiting in the kernel: they will never run program code again. It keeps
// its slot but no longer blocks newer attempts of its job. Only delivered signals count: a kill may
// wait behind a launch, and a paused worker observes nothing.
inline constexpr int kUnkillableAfterKills = 4;

struct RankLife {
  enum class Stage {
    kWaiting,     // An older attempt of the job still has processes.
    kSpawning,    // SpawnRank was returned to the caller.
    kUnresolved,  // Restored from disk; may have a process.
    kRunning,
    kExiting,  // RankExited is recorded; it may have processes left.
    kGone,
    kCancelled,  // Stopped before it was spawned: never had a process.
  };

  static Stage StageAfter(const v1::RankExited& exited);

  // False once it has no process and will have none.
  bool IsAlive() const { return stage != Stage::kGone && stage != Stage::kCancelled; }
  // True while a process of it may run program code.
  bool MayRun() const { return IsAlive() && !unkillable; }
  // "waiting" (for the processes of an older attempt to end), "starting", "running", "exiting"
  // (ended, but may have processes left), "ended".
  const char* Name() const;
  // A SIGKILL was delivered to its processes. `waits_in_kernel`: some survived, all of them in
  // uninterruptible sleep. Returns true if that makes it unkillable.
  bool Killed(bool waits_in_kernel, Timestamp now);
  // Text for users about an unkillable rank.
  std::string UnkillableText() const;

  Stage stage = Stage::kWaiting;
  bool started_recorded = false;
  int64_t pid = 0;  // 0 if unknown.
  // Consecutive delivered kills that left all its processes waiting in the kernel.
  int vain_kills = 0;
  Timestamp killed_in_vain_ms = 0;  // Time of the newest such kill.
  bool unkillable = false;
  int64_t ordered_generation = 0;  // Newest order written since the worker started.
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_RANK_LIFE_H_
