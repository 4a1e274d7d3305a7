#include "controller/core/verdict/first_failure.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/verdict/error_line.h"
#include "controller/core/verdict/exit_text.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {

bool ExitedForLostPeer(const v1::RankExited& exited) {
  return exited.exit_code() == static_cast<int>(ExitCode::kPeerLost) && exited.signal() == 0;
}

bool LostPeer(const v1::Attempt& attempt, const v1::RankExited& exited) {
  if (ExitedForLostPeer(exited)) return true;
  const v1::VerdictCause cause = CauseOf(attempt, exited);
  const bool may_have_lost_peer =
      cause == v1::VERDICT_CAUSE_RANK_EXITED ||
      (cause == v1::VERDICT_CAUSE_RANK_SIGNALED && exited.signal() != SIGKILL);
  return may_have_lost_peer && ReportsOnlyPeerLoss(exited.log_tail());
}

Timestamp ExitTime(const v1::RankExited& exited) {
  return exited.corrected_ms() == 0 ? exited.time_ms() : exited.corrected_ms();
}

const v1::RankExited* FirstFailure(const JobEntry& entry, const v1::Attempt& attempt) {
  // Ranks that end after the run is complete do not affect its result.
  if (GangSucceeded(entry)) return nullptr;
  std::vector<const v1::RankExited*> failures;
  for (const auto& [rank, exited] : entry.exited_ranks) {
    const bool counts = IsSeated(entry, rank) && !ContinuesWithout(entry, exited);
    if (IsFailure(exited) && counts) failures.push_back(&exited);
  }
  if (failures.empty()) return nullptr;
  std::ranges::sort(failures, {}, [](const v1::RankExited* exited) {
    return std::pair(ExitTime(*exited), exited->rank());
  });
  const auto cause = std::ranges::find_if(
      failures, [&](const v1::RankExited* exited) { return !LostPeer(attempt, *exited); });
  return cause == failures.end() ? failures.front() : *cause;
}

}  // namespace trainyard::controller
