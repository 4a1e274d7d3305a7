#include "controller/core/verdict/heal_policy.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/heal_time.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/cause_rules.h"
#include "controller/core/verdict/repeated_failure.h"
#include "proto/contract/exit_code.h"
#include "proto/contract/phase.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

using Members = std::vector<const v1::RankPlacement*>;

// Returns false for exit codes after which a new process in the same place would end in the same
// way. The result is also false if the rank only lost a peer, because another rank failed first.
bool MayHealAfterCode(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::kPeerLost:
    case ExitCode::kCannotWrite:
    case ExitCode::kBadCheckpoint:
    case ExitCode::kTryAgain:
    case ExitCode::kNotFinite:
    case ExitCode::kFenced:
    case ExitCode::kTerminated:
    case ExitCode::kCannotExecute:
    case ExitCode::kCommandNotFound:
      return false;
    default:
      return !BlamesJob(code);
  }
}

bool IsHealable(const v1::Verdict& verdict) {
  if (!verdict.restartable()) return false;
  const Rule heals = RulesOf(verdict.cause()).heals;
  return heals == Rule::kDepends ? MayHealAfterCode(verdict.exit_code()) : heals == Rule::kYes;
}

const AttemptObservation* FindObserved(const Observations& observations, const JobEntry& entry) {
  const auto found = observations.attempts.find({entry.job.id(), NewestAttempt(entry)->number()});
  return found == observations.attempts.end() ? nullptr : &found->second;
}

// Returns true if the newest heal followed the same program error and the gang has completed no
// newer step since. Another new process would end in the same way.
bool IsRepeated(const v1::Attempt& attempt, const v1::Verdict& verdict, int64_t step) {
  if (attempt.heals().empty()) return false;
  const v1::Heal& newest = *attempt.heals().rbegin();
  return step <= newest.step() && IsSameProgramError(verdict, newest.verdict());
}

std::set<std::string> FailedNodes(const JobEntry& entry, const Members& gang,
                                  const v1::Verdict& verdict) {
  std::set<std::string> failed;
  for (const v1::RankPlacement* member : gang) {
    const bool is_lost = member->node_id() == verdict.node_id();
    if (is_lost || entry.exited_ranks.contains(member->rank())) failed.insert(member->node_id());
  }
  return failed;
}

// Returns true if the rank has reported a step of the generation and no longer waits for the gang's
// state.
bool HasSteppedIn(int64_t generation, const RankObservation& rank) {
  return rank.newest.generation() == generation && rank.newest.step() > 0 &&
         rank.phase != PhaseName(Phase::kHeal);
}

// Returns true if a rank of the generation made progress recently. The gang then trains, and only
// the reports of other ranks are missing.
bool TrainsOn(const AttemptObservation& observed, int64_t generation, Timestamp now) {
  const int64_t pause_ms = LongestPauseMs(observed);
  return std::ranges::any_of(observed.ranks, [&](const auto& rank) {
    return HasSteppedIn(generation, rank.second) && now - LastProgress(rank.second) < pause_ms;
  });
}

// Returns true if a rank exited with 0, which means that training is over.
bool IsFinishing(const JobEntry& entry, const Members& gang) {
  return std::ranges::any_of(gang, [&](const v1::RankPlacement* member) {
    const auto exited = entry.exited_ranks.find(member->rank());
    return exited != entry.exited_ranks.end() && !IsFailure(exited->second);
  });
}

// Assigns the places of each failed node to the members of one spare node, in order.
std::vector<v1::Seat> SeatsFor(const v1::Attempt& attempt, const Members& gang,
                               const std::set<std::string>& failed,
                               const std::vector<std::string>& spares) {
  std::vector<v1::Seat> seats;
  auto spare = spares.begin();
  for (const std::string& node_id : failed) {
    Members standbys;
    for (const v1::RankPlacement& member : attempt.ranks()) {
      if (member.node_id() == *spare && IsStandby(member)) standbys.push_back(&member);
    }
    auto next = standbys.begin();
    for (const v1::RankPlacement* member : gang) {
      if (member->node_id() != node_id || next == standbys.end()) continue;
      v1::Seat& seat = seats.emplace_back();
      seat.set_place(PlaceOf(*member));
      seat.set_member((*next++)->rank());
    }
    ++spare;
  }
  return seats;
}

// Returns true if at least one surviving rank has the training state (model and optimizer).
bool KeepsState(const v1::Attempt& attempt, const Members& gang,
                const std::set<std::string>& failed) {
  const std::vector<int> without = PlacesWithoutState(attempt);
  return std::ranges::any_of(gang, [&](const v1::RankPlacement* member) {
    return !failed.contains(member->node_id()) &&
           std::ranges::find(without, PlaceOf(*member)) == without.end();
  });
}

const std::string& NodeOfFirstPlace(const v1::Attempt& attempt,
                                    const std::vector<v1::Seat>& seats) {
  const auto first = std::ranges::find(seats, 0, &v1::Seat::place);
  return first == seats.end() ? MemberAt(attempt, 0).node_id()
                              : attempt.ranks(first->member()).node_id();
}

// Describes the newest heal, for example "rank 3 is replaced by the spare node c".
std::string HealText(const ClusterState& state, const v1::Attempt& attempt) {
  const v1::Heal& heal = *attempt.heals().rbegin();
  std::vector<int> places;
  std::vector<std::string> names;
  for (const v1::Seat& seat : heal.seats()) {
    places.push_back(seat.place());
    const std::string name = NodeName(state, attempt.ranks(seat.member()).node_id());
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  std::ranges::sort(places);
  return absl::StrCat(RanksText(places), places.size() == 1 ? " is" : " are",
                      " replaced by the spare ", names.size() == 1 ? "node " : "nodes ",
                      absl::StrJoin(names, ", "));
}

}  // namespace

std::vector<std::string> WholeSpares(const ClusterState& state, const Observations& observations,
                                     const JobEntry& entry) {
  const v1::Attempt& attempt = *NewestAttempt(entry);
  std::vector<std::string> spares = SpareNodes(attempt);
  std::erase_if(spares, [&](const std::string& node_id) {
    const auto node = observations.nodes.find(node_id);
    const bool has_attempt = node != observations.nodes.end() && node->second.attached &&
                             node->second.reports.contains({entry.job.id(), attempt.number()});
    const v1::Node& known = state.nodes.at(node_id).node;
    const bool is_ready = known.state() == v1::NODE_STATE_READY && !known.health().has_quarantine();
    if (!is_ready || !has_attempt || entry.cleared_nodes.contains(node_id)) return true;
    return std::ranges::any_of(attempt.ranks(), [&](const v1::RankPlacement& member) {
      return member.node_id() == node_id && (!entry.started_ranks.contains(member.rank()) ||
                                             entry.exited_ranks.contains(member.rank()));
    });
  });
  return spares;
}

HealDecision DecideHeal(const ClusterState& state, const Observations& observations,
                        const JobEntry& entry, const v1::Verdict& verdict, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const bool may_heal = attempt.state() == v1::ATTEMPT_STATE_RUNNING &&
                        !SpareNodes(attempt).empty() && IsHealable(verdict);
  const Members gang = may_heal ? SeatedMembers(attempt) : Members();
  if (!may_heal || IsFinishing(entry, gang)) return {};
  const std::set<std::string> failed = FailedNodes(entry, gang, verdict);
  const AttemptObservation* observed = FindObserved(observations, entry);
  HealDecision heal{.step = observed == nullptr ? 0 : LastStep(*observed)};
  const bool has_stepped = !attempt.heals().empty() || heal.step > StepBefore(attempt);
  if (has_stepped && IsRepeated(attempt, verdict, heal.step)) return {};
  const std::vector<std::string> spares = WholeSpares(state, observations, entry);
  if (!KeepsState(attempt, gang, failed)) return {};
  if (!has_stepped || spares.size() < failed.size()) {
    return {.awaits_reports = now < observations.since_ms + kHealReportsWaitMs};
  }
  heal.seats = SeatsFor(attempt, gang, failed, spares);
  heal.master_node_id = NodeOfFirstPlace(attempt, heal.seats);
  return heal;
}

bool IsHealing(const v1::Attempt& attempt) {
  return !attempt.heals().empty() && attempt.heals().rbegin()->healed_ms() == 0;
}

std::optional<v1::AttemptHealed> FindHealed(const Observations& observations, const JobEntry& entry,
                                            Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const AttemptObservation* observed = FindObserved(observations, entry);
  if (observed == nullptr) return std::nullopt;
  const v1::Heal& heal = *attempt.heals().rbegin();
  int64_t step = std::numeric_limits<int64_t>::max(), first_step = step;
  const int places = GangSize(attempt);
  for (int place = 0; place < places; ++place) {
    const auto rank = observed->ranks.find(place);
    const bool has_stepped =
        rank != observed->ranks.end() && HasSteppedIn(heal.generation(), rank->second);
    if (!has_stepped) return std::nullopt;
    step = std::min(step, rank->second.newest.step());
    first_step = std::min(first_step, rank->second.first_step_of_generation);
  }
  v1::AttemptHealed healed;
  healed.set_job_id(entry.job.id());
  healed.set_attempt(attempt.number());
  healed.set_generation(heal.generation());
  healed.set_step(step);
  healed.set_lost_steps(std::max<int64_t>(0, heal.step() + 1 - first_step));
  healed.set_heal_ms(std::max<int64_t>(0, now - HealingSince(attempt)));
  return healed;
}

int64_t HealLimitMs(const Observations& observations, const CoreOptions& options,
                    const JobEntry& entry) {
  const AttemptObservation* observed = FindObserved(observations, entry);
  const int64_t pauses_ms = observed == nullptr ? 0 : 2 * LongestPauseMs(*observed);
  return std::max(options.heal_within_ms, pauses_ms);
}

std::optional<v1::Verdict> VerdictOnHeal(const Observations& observations,
                                         const CoreOptions& options, const JobEntry& entry,
                                         Timestamp now) {
  const v1::Heal& heal = *LiveAttempt(entry)->heals().rbegin();
  const AttemptObservation* observed = FindObserved(observations, entry);
  const int64_t limit_ms = HealLimitMs(observations, options, entry);
  // If the start time is after `now`, the clock was set back, and the limit counts as exceeded.
  // Time in which this controller was down or stalled does not count, because the gang may have
  // healed in that time.
  const Timestamp began_ms =
      heal.began_ms() > now
          ? 0
          : std::max({heal.began_ms(), observations.since_ms, observations.resumed_ms});
  if (now - began_ms < limit_ms) return std::nullopt;
  if (observed != nullptr && TrainsOn(*observed, heal.generation(), now)) return std::nullopt;
  v1::Verdict verdict = heal.verdict();
  absl::StrAppend(verdict.mutable_summary(),
                  "; after the heal, the gang did not complete a step within ",
                  DurationText(limit_ms));
  return verdict;
}

v1::Verdict VerdictWithoutHeal(const v1::Attempt& attempt, const v1::Verdict& verdict) {
  const bool lost_peer = verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
                         verdict.exit_code() == static_cast<int>(ExitCode::kPeerLost);
  if (!lost_peer || !IsHealing(attempt)) return verdict;
  v1::Verdict first = attempt.heals().rbegin()->verdict();
  absl::StrAppend(first.mutable_summary(),
                  "; the gang could not continue in place: ", verdict.summary());
  return first;
}

std::vector<int> PlacesWithoutState(const v1::Attempt& attempt) {
  std::set<int> places;
  for (auto heal = attempt.heals().rbegin(); heal != attempt.heals().rend(); ++heal) {
    if (heal->healed_ms() != 0) break;
    for (const v1::Seat& seat : heal->seats()) places.insert(seat.place());
  }
  return {places.begin(), places.end()};
}

std::optional<v1::PendingReason> WhyHealing(const ClusterState& state, const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  const bool runs = live != nullptr && entry.job.state() == v1::JOB_STATE_RUNNING;
  if (!runs || !IsHealing(*live)) return std::nullopt;
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_HEALING);
  reason.set_message(absl::StrCat("healing: ", HealText(state, *live)));
  reason.set_advice(
      "no action is needed; if the gang does not complete a step in time, it restarts from its "
      "newest checkpoint");
  return reason;
}

}  // namespace trainyard::controller
