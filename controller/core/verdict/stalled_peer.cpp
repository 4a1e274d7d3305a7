#include "controller/core/verdict/stalled_peer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/left_ranks.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/verdict/cause_rules.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Returns true if the stall lasted until the ranks began to fail. The stall may seem to end as much
// as kReportPauseMs earlier, because reports of exiting ranks look like progress.
bool LastedUntil(const Stall& stall, Timestamp first_failure_ms) {
  return stall.until_ms == 0 || stall.until_ms >= first_failure_ms - kReportPauseMs;
}

// Returns true if one of these ranks exited with 0. Such a rank did not stall.
bool HasLeft(const JobEntry& entry, const std::vector<int>& places) {
  return std::ranges::any_of(places, [&](int place) {
    const auto exited = entry.exited_ranks.find(MemberAt(*LiveAttempt(entry), place).rank());
    return exited != entry.exited_ranks.end() && !IsFailure(exited->second);
  });
}

}  // namespace

bool BlameStalledPeer(const ClusterState& state, const AttemptObservation& observed,
                      const JobEntry& entry, v1::Verdict& verdict) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const std::optional<Stall>& stall = observed.stall;
  if (!stall.has_value() || !LastedUntil(*stall, entry.first_failure_ms)) return false;
  const std::string stalled =
      absl::StrCat("no step for ", DurationText(entry.first_failure_ms - stall->since_ms),
                   " after step ", LastStep(observed));
  const std::optional<GroupWait> wait = FindGroupWait(observed, GangSize(attempt));
  const bool is_identified = wait.has_value() && !wait->culprits.empty() &&
                             static_cast<int>(wait->culprits.size()) < GangSize(attempt) &&
                             !HasLeft(entry, wait->culprits);
  if (!is_identified) {
    absl::StrAppend(verdict.mutable_summary(), "; before that, the gang made ", stalled);
    return false;
  }
  const int rank = wait->culprits.front();
  const std::string& node_id = MemberAt(attempt, rank).node_id();
  verdict.set_cause(v1::VERDICT_CAUSE_STALLED);
  verdict.set_summary(absl::StrCat("the gang stalled: ", stalled, "; ", GroupWaitText(*wait),
                                   " (rank ", rank, " on ", NodeName(state, node_id), "); then ",
                                   verdict.summary()));
  verdict.set_rank(rank);
  verdict.set_node_id(node_id);
  verdict.mutable_ranks()->Assign(wait->culprits.begin(), wait->culprits.end());
  verdict.set_restartable(RulesOf(verdict.cause()).restartable);
  verdict.clear_exit_code();
  verdict.clear_signal();
  verdict.clear_error_line();
  return true;
}

void AddEarlyExits(const AttemptObservation& observed, const JobEntry& entry,
                   v1::Verdict& verdict) {
  const std::optional<LeftRanks> left = FindLeftRanks(observed, entry);
  if (!left.has_value()) return;
  absl::StrAppend(verdict.mutable_summary(), "; before that, ", ExitsText(observed, *left));
  if (!left->left_early) return;
  verdict.mutable_summary()->append(LeftRanksReason(observed, entry.job, *left));
  verdict.mutable_ranks()->Assign(left->culprits.begin(), left->culprits.end());
}

}  // namespace trainyard::controller
