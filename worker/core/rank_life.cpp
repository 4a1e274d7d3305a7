#include "worker/core/rank_life.h"

#include "absl/strings/str_cat.h"

namespace trainyard::worker {

RankLife::Stage RankLife::StageAfter(const v1::RankExited& exited) {
  return exited.spawn_error().empty() ? Stage::kExiting : Stage::kGone;
}

const char* RankLife::Name() const {
  switch (stage) {
    case Stage::kWaiting:
      return "waiting";
    case Stage::kSpawning:
      return "starting";
    case Stage::kUnresolved:
    case Stage::kRunning:
      return "running";
    case Stage::kExiting:
      return "exiting";
    case Stage::kGone:
    case Stage::kCancelled:
      break;
  }
  return "ended";
}

bool RankLife::Killed(bool waits_in_kernel, Timestamp now) {
  const bool has_process = stage == Stage::kRunning || stage == Stage::kExiting;
  if (!has_process || unkillable) return false;
  if (!waits_in_kernel) {
    vain_kills = 0;
    return false;
  }
  if (vain_kills > 0 && now < killed_in_vain_ms + kKillAgainMs / 2) return false;
  killed_in_vain_ms = now;
  if (++vain_kills < kUnkillableAfterKills) return false;
  unkillable = true;
  return true;
}

std::string RankLife::UnkillableText() const {
  const std::string process = stage == Stage::kRunning && pid > 0
                                  ? absl::StrCat("process ", pid)
                                  : std::string("a process of the rank");
  return absl::StrCat(
      process, " has not ended after ", kUnkillableAfterKills,
      " SIGKILLs, because it is stuck in the kernel, for example on a file server or driver that "
      "does not answer. To free the slot, fix the server or driver, or restart the node");
}

}  // namespace trainyard::worker
