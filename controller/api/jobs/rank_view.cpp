#include "controller/api/jobs/rank_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/health/straggler_watch.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/verdict/failure_policy.h"
#include "proto/contract/phase.h"
#include "proto/support/freshness.h"
#include "proto/support/rank_position.h"

namespace trainyard::controller {
namespace {

void SetPosition(const v1::LayoutSpec& layout, v1::RankStatus& status) {
  const RankPosition position = RankPositionOf(status.place(), layout);
  status.set_tp(position.tp);
  status.set_cp(position.cp);
  status.set_dp(position.dp);
  status.set_pp(position.pp);
}

// Returns the state of a rank that has exited.
v1::RankState StateAfterExit(const v1::RankExited& exited, const v1::Attempt& attempt) {
  if (!IsFailure(exited)) return v1::RANK_STATE_EXITED;
  return WasAskedToStop(exited, attempt) ? v1::RANK_STATE_STOPPED : v1::RANK_STATE_FAILED;
}

v1::RankState StateOf(const v1::RankStatus& status, const v1::Attempt& attempt, bool is_newest,
                      const JobEntry& entry) {
  if (is_newest) {
    if (const auto exited = entry.exited_ranks.find(status.rank());
        exited != entry.exited_ranks.end()) {
      return StateAfterExit(exited->second, attempt);
    }
  }
  if (attempt.state() == v1::ATTEMPT_STATE_ENDED) return v1::RANK_STATE_ENDED;
  const bool started = is_newest && entry.started_ranks.contains(status.rank());
  return started ? v1::RANK_STATE_RUNNING : v1::RANK_STATE_STARTING;
}

// Returns true if the rank's last step times are up to date, that is, if the rank made progress
// recently.
bool HoldsNow(const RankObservation& rank, Timestamp now) {
  return IsFresh(now - LastProgress(rank), rank.newest.step_seconds());
}

void AddObserved(const AttemptObservation& observed, Timestamp now, v1::RankStatus& status) {
  const auto found = observed.ranks.find(status.place());
  if (!status.has_place() || found == observed.ranks.end()) return;
  status.set_step(found->second.step);
  status.set_phase(found->second.phase);
  status.set_last_progress_ms(LastProgress(found->second));
  status.set_data_stall_seconds(found->second.newest.data_stall_seconds());
  status.set_memory_bytes(found->second.newest.memory_bytes());
  const v1::RankRecord& newest = found->second.newest;
  if (HoldsNow(found->second, now)) {
    status.set_step_seconds(newest.step_seconds());
    if (newest.has_step_time()) *status.mutable_step_time() = newest.step_time();
  }
  *status.mutable_flights() = newest.flights();
}

v1::RankStatus StatusOf(const v1::RankPlacement& placement, const v1::Attempt& attempt,
                        bool is_newest, const JobEntry& entry) {
  v1::RankStatus status;
  status.set_rank(placement.rank());
  status.set_node_id(placement.node_id());
  status.set_local_rank(placement.local_rank());
  status.set_slot(placement.slot());
  status.set_standby(placement.standby());
  status.set_replaced(placement.replaced());
  if (IsSeated(placement)) {
    status.set_place(PlaceOf(placement));
    SetPosition(attempt.has_layout() ? attempt.layout().layout() : entry.job.spec().layout(),
                status);
  } else if (IsStandby(placement)) {
    status.set_phase(std::string(PhaseName(Phase::kStandby)));
  }
  status.set_state(StateOf(status, attempt, is_newest, entry));
  const auto exited = entry.exited_ranks.find(placement.rank());
  if (is_newest && exited != entry.exited_ranks.end()) {
    status.set_exit_code(exited->second.exit_code());
    status.set_signal(exited->second.signal());
  }
  return status;
}

}  // namespace

absl::StatusOr<v1::ListRanksResponse> RanksNow(const JobEntry& entry, int64_t attempt_number,
                                               const ClusterView& view) {
  v1::ListRanksResponse response;
  response.set_job_id(entry.job.id());
  response.set_revision(view.revision);
  response.set_as_of_ms(view.now);
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr && attempt_number == 0) return response;
  const auto& attempts = entry.job.attempts();
  const auto chosen = std::find_if(attempts.begin(), attempts.end(), [&](const auto& attempt) {
    return attempt.number() == (attempt_number == 0 ? newest->number() : attempt_number);
  });
  if (chosen == attempts.end()) {
    return absl::NotFoundError(
        absl::StrCat("attempt ", attempt_number, " of job ", entry.job.id(),
                     " does not exist, or the data of its ranks is no longer stored"));
  }
  response.set_attempt(chosen->number());
  std::vector<Straggler> stragglers;
  if (&*chosen == newest) stragglers = FindStragglers(view.observations, entry);
  const auto observed = view.observations.attempts.find({entry.job.id(), chosen->number()});
  for (const v1::RankPlacement& placement : chosen->ranks()) {
    v1::RankStatus status = StatusOf(placement, *chosen, &*chosen == newest, entry);
    if (observed != view.observations.attempts.end()) {
      AddObserved(observed->second, view.now, status);
    }
    const auto slow = std::ranges::find(stragglers, PlaceOf(placement), &Straggler::rank);
    if (slow != stragglers.end()) status.set_slow_ratio(slow->seconds / slow->median_seconds);
    (*response.mutable_node_names())[placement.node_id()] =
        NodeName(view.state, placement.node_id());
    *response.add_ranks() = std::move(status);
  }
  return response;
}

}  // namespace trainyard::controller
