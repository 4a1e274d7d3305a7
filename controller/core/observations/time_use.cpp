#include "controller/core/observations/time_use.h"

#include <algorithm>
#include <optional>

#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "proto/contract/phase.h"

namespace trainyard::controller {
namespace {

// Converts seconds to milliseconds. The seconds come from a program and are untrusted input.
int64_t SaneMs(double seconds) {
  constexpr double kHundredYears = 100 * 365.25 * 86400;
  if (!(seconds > 0)) return 0;
  return static_cast<int64_t>(std::min(seconds, kHundredYears) * 1000);
}

// Returns the milliseconds that the rank has spent in this phase so far. Returns 0 if the rank is
// in another phase.
int64_t OpenMs(const RankObservation& rank, Phase phase, Timestamp now) {
  if (rank.phase != PhaseName(phase)) return 0;
  const Timestamp until = rank.left_ms == 0 ? now : rank.left_ms;
  return std::max<int64_t>(0, until - rank.phase_since_ms);
}

v1::TimeUse OfRank(const RankObservation& rank, Timestamp now) {
  const v1::RankRecord& newest = rank.newest;
  v1::TimeUse use;
  use.set_init_ms(SaneMs(newest.init_seconds()) + OpenMs(rank, Phase::kInit, now));
  use.set_load_ms(SaneMs(newest.load_seconds()) + OpenMs(rank, Phase::kLoad, now));
  use.set_data_stall_ms(SaneMs(newest.data_stall_seconds()));
  use.set_checkpoint_ms(SaneMs(newest.checkpoint_seconds()) +
                        OpenMs(rank, Phase::kCheckpoint, now));
  use.set_evaluation_ms(SaneMs(newest.evaluation_seconds()) + OpenMs(rank, Phase::kEval, now));
  return use;
}

bool CameByHeal(const v1::Attempt& attempt, int place) {
  return std::ranges::any_of(attempt.heals(), [&](const v1::Heal& heal) {
    return std::ranges::find(heal.seats(), place, &v1::Seat::place) != heal.seats().end();
  });
}

}  // namespace

v1::TimeUse ObservedTimeUse(const AttemptObservation& observed, const v1::Attempt& attempt,
                            Timestamp now) {
  v1::TimeUse use;
  std::optional<int64_t> init_ms;
  for (const auto& [number, rank] : observed.ranks) {
    const v1::TimeUse of_rank = OfRank(rank, now);
    // The startup time of a standby does not count as startup time of the gang.
    if (CameByHeal(attempt, number)) continue;
    const bool has_spoken = !rank.phase.empty() || rank.newest.ByteSizeLong() > 0;
    if (has_spoken) init_ms = std::min(init_ms.value_or(of_rank.init_ms()), of_rank.init_ms());
    use.set_load_ms(std::max(use.load_ms(), of_rank.load_ms()));
    use.set_data_stall_ms(std::max(use.data_stall_ms(), of_rank.data_stall_ms()));
    use.set_checkpoint_ms(std::max(use.checkpoint_ms(), of_rank.checkpoint_ms()));
    use.set_evaluation_ms(std::max(use.evaluation_ms(), of_rank.evaluation_ms()));
  }
  use.set_init_ms(init_ms.value_or(0));
  const Timestamp until = attempt.stopping_time_ms() == 0 ? now : attempt.stopping_time_ms();
  use.set_stalled_since_ms(StalledSince(observed, until));
  const std::optional<Stall> ended = UnrecordedStall(observed, attempt);
  const int64_t ended_ms = ended.has_value() ? ended->until_ms - ended->since_ms : 0;
  use.set_stalled_ms(attempt.time_use().stalled_ms() + ended_ms);
  use.set_stalled_until_ms(ended.has_value() ? ended->until_ms
                                             : attempt.time_use().stalled_until_ms());
  use.set_diverged_ms(attempt.time_use().diverged_ms());
  use.set_diverged_until_ms(attempt.time_use().diverged_until_ms());
  use.set_slow_ms(attempt.time_use().slow_ms());
  use.set_slow_until_ms(attempt.time_use().slow_until_ms());
  return use;
}

std::vector<LostTraining> UnrecordedLosses(int64_t job_id, const Observations& observations,
                                           const v1::Attempt& attempt, LostPeriods::Scope scope) {
  std::vector<LostTraining> losses;
  const auto add = [&](v1::LedgerPhase phase, const LostPeriods* periods, Timestamp recorded_ms) {
    if (periods == nullptr) return;
    if (auto lost = periods->Unrecorded(recorded_ms, scope))
      losses.push_back({phase, lost->until_ms, lost->lost_ms});
  };
  const v1::TimeUse& use = attempt.time_use();
  if (const auto* observed = ObservedAttempt(observations, {job_id, attempt.number()})) {
    add(v1::LEDGER_PHASE_DIVERGING, &observed->divergence.lost(), use.diverged_until_ms());
  }
  if (const auto pace = observations.paces.find(job_id); pace != observations.paces.end()) {
    add(v1::LEDGER_PHASE_SLOW, pace->second.LostIn(attempt.number()), use.slow_until_ms());
  }
  return losses;
}

void MergeObserved(const v1::Job& job, const Observations& observations, Timestamp now,
                   v1::Attempt& attempt) {
  const auto found = observations.attempts.find({job.id(), attempt.number()});
  if (found == observations.attempts.end()) return;
  attempt.set_last_step(std::max(attempt.last_step(), LastStep(found->second)));
  if (attempt.state() == v1::ATTEMPT_STATE_ENDED) return;
  *attempt.mutable_time_use() = ObservedTimeUse(found->second, attempt, now);
  if (!found->second.save_problem.has_value()) return;
  attempt.mutable_time_use()->set_unsaved_steps(
      WorkAtRiskOf(job, attempt, attempt.last_step()).steps);
}

void MergeObserved(const v1::Job& job, const Observations& observations, Timestamp now,
                   v1::Job& copy) {
  for (v1::Attempt& attempt : *copy.mutable_attempts()) {
    MergeObserved(job, observations, now, attempt);
  }
}

}  // namespace trainyard::controller
