#include "controller/core/observations/left_ranks.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/text.h"
#include "proto/contract/phase.h"

namespace trainyard::controller {
namespace {

// The ranks of a healthy gang exit within this time of each other.
constexpr int64_t kExitTogetherMs = 5000;

int64_t StepOf(const AttemptObservation& attempt, int place) {
  const auto rank = attempt.ranks.find(place);
  return rank == attempt.ranks.end() ? 0 : rank->second.step;
}

// Returns the newest step of these ranks. Returns 0 if none of them reports steps.
int64_t NewestStep(const AttemptObservation& attempt, const std::vector<int>& places) {
  int64_t step = 0;
  for (const int place : places) step = std::max(step, StepOf(attempt, place));
  return step;
}

// Returns the ranks that left before the step for which the other ranks wait.
std::vector<int> LeftEarly(const AttemptObservation& attempt, const v1::Job& job,
                           const LeftRanks& ranks) {
  std::vector<int> early;
  if (ranks.wait.has_value()) {
    std::ranges::set_intersection(ranks.left, ranks.wait->missing, std::back_inserter(early));
    if (!early.empty()) return early;
  }
  // A program may end before the last step of its settings, but then most of its ranks leave. If at
  // most half of the ranks have left, those ranks left early.
  const int64_t total = TotalSteps(attempt, job);
  const bool has_more_steps = total > 0 && LastStep(attempt) < total;
  if (has_more_steps && ranks.left.size() <= ranks.staying.size()) return ranks.left;
  if (!HasDistinctSteps(attempt)) return {};
  const int64_t reached = NewestStep(attempt, ranks.staying);
  std::ranges::copy_if(ranks.left, std::back_inserter(early), [&](int place) {
    return StepOf(attempt, place) > 0 && StepOf(attempt, place) < reached;
  });
  return early;
}

// Returns the time of the first exit among these ranks. Returns 0 if this time is unknown.
Timestamp FirstLeftMs(const AttemptObservation& attempt, const std::vector<int>& places) {
  Timestamp first = 0;
  for (const int place : places) {
    const auto rank = attempt.ranks.find(place);
    const Timestamp left = rank == attempt.ranks.end() ? 0 : rank->second.left_ms;
    if (left != 0 && (first == 0 || left < first)) first = left;
  }
  return first;
}

// Returns true if one of these ranks is in a phase whose length has no fixed limit.
bool SaveOrEvaluate(const AttemptObservation& attempt, const std::vector<int>& places) {
  return std::ranges::any_of(places, [&](int place) {
    const auto rank = attempt.ranks.find(place);
    return rank != attempt.ranks.end() && (rank->second.phase == PhaseName(Phase::kCheckpoint) ||
                                           rank->second.phase == PhaseName(Phase::kEval));
  });
}

// Returns true if the gang has reached the last step of the run, or if the ranks that left have
// reached every step of the ranks that stay.
bool StayAfterLastStep(const AttemptObservation& attempt, const v1::Job& job,
                       const LeftRanks& ranks) {
  const int64_t total = TotalSteps(attempt, job);
  if (total > 0) return LastStep(attempt) >= total;
  const int64_t stayed_at = NewestStep(attempt, ranks.staying);
  return stayed_at > 0 && NewestStep(attempt, ranks.left) >= stayed_at;
}

std::string AtStep(int64_t step) { return step > 0 ? absl::StrCat(" at step ", step) : ""; }

// Returns, for example, "still run (step 10, train)".
std::string StayText(const AttemptObservation& attempt, const std::vector<int>& staying) {
  std::string text = staying.size() == 1 ? " still runs" : " still run";
  const auto first = attempt.ranks.find(staying.front());
  if (first == attempt.ranks.end() || !ReportsSteps(first->second)) return text;
  absl::StrAppend(&text, " (step ", first->second.step);
  if (!first->second.phase.empty()) absl::StrAppend(&text, ", ", first->second.phase);
  return text + ")";
}

}  // namespace

bool HasDistinctSteps(const AttemptObservation& attempt) {
  constexpr int64_t kDistinctStepMs = 1500;
  return std::ranges::all_of(
      attempt.ranks, [](const auto& rank) { return rank.second.slow_step_ms >= kDistinctStepMs; });
}

std::set<int> PlacesLeft(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  std::set<int> places;
  for (const auto& [member, exited] : entry.exited_ranks) {
    if (!IsSeated(entry, member) || IsFailure(exited)) continue;
    places.insert(PlaceOf(attempt.ranks(member)));
  }
  return places;
}

std::optional<LeftRanks> FindLeftRanks(const AttemptObservation& attempt, const JobEntry& entry) {
  const std::set<int> left = PlacesLeft(entry);
  const int places = GangSize(*LiveAttempt(entry));
  if (left.empty() || static_cast<int>(left.size()) == places) return std::nullopt;
  LeftRanks ranks{.left = {left.begin(), left.end()}};
  for (int place = 0; place < places; ++place) {
    if (!left.contains(place)) ranks.staying.push_back(place);
  }
  ranks.wait = FindGroupWait(attempt, places);
  ranks.culprits = LeftEarly(attempt, entry.job, ranks);
  ranks.left_early = !ranks.culprits.empty();
  if (!ranks.left_early) ranks.culprits = ranks.staying;
  return ranks;
}

std::string ExitsText(const AttemptObservation& attempt, const LeftRanks& ranks) {
  return absl::StrCat(RanksText(ranks.left), " exited with 0",
                      AtStep(NewestStep(attempt, ranks.left)));
}

std::string LeftRanksText(const AttemptObservation& attempt, const LeftRanks& ranks) {
  const std::string left = absl::StrCat(ExitsText(attempt, ranks), " while ");
  if (!ranks.wait.has_value()) {
    return absl::StrCat(left, RanksText(ranks.staying), StayText(attempt, ranks.staying));
  }
  return absl::StrCat(left, RanksText(ranks.wait->waiting),
                      ranks.wait->waiting.size() == 1 ? " waits in " : " wait in ",
                      ranks.wait->operation, " ", ranks.wait->sequence, " of group ",
                      ranks.wait->group);
}

std::string LeftRanksReason(const AttemptObservation& attempt, const v1::Job& job,
                            const LeftRanks& ranks) {
  if (SaveOrEvaluate(attempt, ranks.staying)) return "";
  const std::string uneven = "the data of " + RanksText(ranks.left) + " ended early (uneven data)";
  const std::string stall = RanksText(ranks.staying) + " stalled after the last step";
  if (ranks.left_early) return "; probably " + uneven;
  if (StayAfterLastStep(attempt, job, ranks)) return "; probably " + stall;
  return absl::StrCat("; either ", uneven, " or ", stall);
}

std::optional<v1::HealthFinding> WhyRanksStay(const Observations& observations,
                                              const JobEntry& entry, Timestamp now) {
  const v1::Attempt* attempt = LiveAttempt(entry);
  if (entry.job.state() != v1::JOB_STATE_RUNNING || attempt == nullptr) return std::nullopt;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt->number()});
  if (observed == nullptr || entry.exited_ranks.empty()) return std::nullopt;
  const std::optional<LeftRanks> ranks = FindLeftRanks(*observed, entry);
  if (!ranks.has_value()) return std::nullopt;
  const bool exit_together = std::ranges::any_of(ranks->left, [&](int place) {
    const auto rank = observed->ranks.find(place);
    if (rank == observed->ranks.end()) return false;
    return rank->second.running || now - rank->second.left_ms <= kExitTogetherMs;
  });
  if (exit_together) return std::nullopt;
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_STALLED);
  finding.set_since_ms(FirstLeftMs(*observed, ranks->left));
  finding.mutable_ranks()->Add(ranks->culprits.begin(), ranks->culprits.end());
  finding.set_message(absl::StrCat(LeftRanksText(*observed, *ranks),
                                   LeftRanksReason(*observed, entry.job, *ranks)));
  finding.set_advice(absl::StrCat("`trainyard logs ", entry.job.id(), " --rank ",
                                  MemberAt(*attempt, ranks->culprits.front()).rank(),
                                  " --tail 20` shows its last output"));
  return finding;
}

}  // namespace trainyard::controller
