#include "controller/core/explain/job_health.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/explain/missing_ranks.h"
#include "controller/core/explain/save_hint.h"
#include "controller/core/health/straggler_watch.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/left_ranks.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/heal_policy.h"
#include "controller/core/verdict/restart_loop.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

bool HasHealth(v1::JobState state) {
  return state == v1::JOB_STATE_STARTING || state == v1::JOB_STATE_RUNNING ||
         state == v1::JOB_STATE_RECOVERING;
}

// `since_step`: the first bad step.
std::string DivergingAdvice(const v1::Job& job, int64_t since_step) {
  const bool has_checkpoint = std::ranges::any_of(
      job.checkpoints(),
      [&](const v1::Checkpoint& checkpoint) { return checkpoint.step() < since_step; });
  const std::string from =
      has_checkpoint ? absl::StrCat("from a checkpoint before that step (`trainyard describe ",
                                    job.id(), "` lists them)")
                     : "from the start, because no checkpoint is older than that step";
  return absl::StrCat("no later step is of use: stop the job, then submit it again ", from,
                      "; with guard.policy skip or lower_lr, the controller goes back to a "
                      "checkpoint itself");
}

std::optional<v1::HealthFinding> WhyDiverging(const AttemptObservation& observed,
                                              const v1::Job& job) {
  const std::optional<DivergenceWatch::Divergence> divergence = observed.divergence.divergence();
  if (!divergence.has_value()) return std::nullopt;
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_DIVERGING);
  finding.set_since_ms(divergence->since_ms);
  finding.set_message(
      divergence->metric.empty()
          ? absl::StrCat("the loss has spiked at every record since step ", divergence->since_step)
          : absl::StrCat(divergence->metric, " has not been finite since step ",
                         divergence->since_step));
  finding.set_advice(DivergingAdvice(job, divergence->since_step));
  return finding;
}

std::optional<v1::HealthFinding> WhySlowRun(const Observations& observations,
                                            const v1::Attempt& attempt, int64_t job_id) {
  const auto pace = observations.paces.find(job_id);
  if (pace == observations.paces.end()) return std::nullopt;
  const std::optional<PaceWatch::Slowdown> slowdown = pace->second.SlowdownOf(attempt.number());
  if (!slowdown.has_value()) return std::nullopt;
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_SLOW);
  finding.set_since_ms(slowdown->since_ms);
  finding.set_message(
      absl::StrFormat("the run is %.1f times slower than its own best rate", 1 / slowdown->ratio));
  finding.set_advice(absl::StrCat("`trainyard why ", job_id,
                                  "` names the part of a step that takes the time, if the program "
                                  "reports it; `trainyard doctor` checks the nodes"));
  return finding;
}

std::optional<v1::HealthFinding> WhyHealed(const ClusterState& state,
                                           const Observations& observations, const JobEntry& entry,
                                           const v1::Attempt& attempt) {
  if (attempt.heals().empty() || attempt.heals().rbegin()->healed_ms() == 0) return std::nullopt;
  const v1::Heal& newest = *attempt.heals().rbegin();
  const int asked = GangRequestOf(entry.job.spec()).Spares();
  const auto left = WholeSpares(state, observations, entry).size();
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_HEALED);
  finding.set_since_ms(newest.healed_ms());
  for (const v1::Seat& seat : newest.seats()) finding.add_ranks(seat.place());
  finding.set_message(absl::StrCat("healed in place ", Counted(attempt.heals_size(), "time"), "; ",
                                   left, " of ", Counted(asked, "spare node"),
                                   " left; most recently: ", newest.verdict().summary()));
  if (left == 0) {
    finding.set_advice("the next failure restarts the job from its newest checkpoint");
  }
  return finding;
}

// Collects the findings about one job.
class FindingList {
 public:
  FindingList(const ClusterState& state, const v1::Attempt* live) : state_(state), live_(live) {}

  void Add(std::optional<v1::HealthFinding> finding) {
    if (!finding.has_value()) return;
    const bool names_rank =
        live_ != nullptr && !finding->ranks().empty() && finding->ranks(0) < GangSize(*live_);
    if (names_rank) {
      finding->set_node(NodeName(state_, MemberAt(*live_, finding->ranks(0)).node_id()));
    }
    health_.mutable_findings()->Add(*std::move(finding));
  }

  // Returns the health, with the worst finding first.
  v1::JobHealth Take() {
    std::stable_sort(health_.mutable_findings()->begin(), health_.mutable_findings()->end(),
                     [](const auto& a, const auto& b) { return a.word() > b.word(); });
    health_.set_word(health_.findings().empty() ? v1::HEALTH_WORD_OK : health_.findings(0).word());
    return std::move(health_);
  }

 private:
  const ClusterState& state_;
  const v1::Attempt* live_;
  v1::JobHealth health_;
};

void AddWorkAtRisk(const WorkAtRisk& work, v1::JobHealth& health) {
  health.set_steps_at_risk(work.steps);
  health.set_saved_step(work.saved_step);
  health.set_at_risk_since_ms(work.since_ms);
}

}  // namespace

v1::JobHealth HealthOf(const ClusterState& state, const Observations& observations,
                       const JobEntry& entry, Timestamp now) {
  if (!HasHealth(entry.job.state())) return {};
  const v1::Attempt* live = LiveAttempt(entry);
  FindingList findings(state, live);
  findings.Add(WhyLooping(observations, entry, now));
  const AttemptObservation* observed =
      live == nullptr ? nullptr : ObservedAttempt(observations, {entry.job.id(), live->number()});
  const bool runs = observed != nullptr && entry.job.state() == v1::JOB_STATE_RUNNING;
  if (!runs) return findings.Take();
  auto stalled = WhyRanksStay(observations, entry, now);
  // If steps are not alike, a long step is no sign of a stall.
  const bool judges_steps = ProgramRulesOf(entry.job.spec()).has_equal_steps;
  if (!stalled.has_value() && judges_steps) stalled = WhyStalled(observations, entry, now);
  findings.Add(std::move(stalled));
  findings.Add(WhyDiverging(*observed, entry.job));
  findings.Add(WhyUnsaved(observations, entry));
  auto slow_rank = WhySlowRank(state, observations, entry);
  findings.Add(slow_rank.has_value() ? std::move(slow_rank)
                                     : WhySlowRun(observations, *live, entry.job.id()));
  findings.Add(WhyRanksAreMissing(state, entry));
  findings.Add(WhyHealed(state, observations, entry, *live));
  v1::JobHealth health = findings.Take();
  AddWorkAtRisk(WorkAtRiskOf(entry.job, *live, LastStep(*observed)), health);
  return health;
}

}  // namespace trainyard::controller
