#include "controller/core/hang_watch.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/gang.h"
#include "controller/core/group_wait.h"
#include "controller/core/start_evidence.h"
#include "controller/core/text.h"
#include "proto/contract/phase.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

// A rank writes its step once a second at most: with shorter steps the ranks of a healthy gang
// report different ones.
constexpr int64_t kStepsToldApartMs = 1500;
// Between the limits of a phase in two attempts of a row that hung, and the most that count.
constexpr int64_t kMorePatience = 3;
constexpr int kMostHangsInARow = 4;

class HangSearch {
 public:
  HangSearch(const ClusterState& state, const Observations& observations,
             const CoreOptions& options, const JobEntry& entry, Timestamp now)
      : state_(state),
        observations_(observations),
        options_(options),
        entry_(entry),
        rules_(entry.job.spec().watchdog()),
        attempt_(*LiveAttempt(entry)),
        now_(now) {}

  std::optional<Hang> Find() {
    const auto observed = observations_.attempts.find({entry_.job.id(), attempt_.number()});
    const bool some_exited = CountSeated(attempt_, entry_.exited_ranks) > 0;
    if (observed == observations_.attempts.end() || some_exited) return std::nullopt;
    gang_ = &observed->second;
    // The usual end of the search: some rank has just made a step.
    const Timestamp since_ms = StillSince();
    const int64_t still_ms = now_ - since_ms;
    if (since_ms == 0 || still_ms <= ToMs(rules_.min_stall())) return std::nullopt;
    const std::optional<int64_t> limit_ms = LimitMs();
    if (!limit_ms.has_value() || still_ms <= *limit_ms || IsFinishing()) return std::nullopt;
    if (!AllReportSteadily()) return std::nullopt;
    Hang hang{.step = LastStep(*gang_)};
    hang.evidence = absl::StrCat("no step for ", DurationText(still_ms), " after step ", hang.step,
                                 ", longer than ", DurationText(*limit_ms));
    NameCulprits(hang);
    return hang;
  }

 private:
  // Time of the gang's newest progress; 0 when no rank reports any. A start that writes something
  // goes on, however long its phase is.
  Timestamp StillSince() const {
    Timestamp since_ms = 0;
    for (const auto& [number, rank] : gang_->ranks) {
      if (!ReportsSteps(rank)) continue;
      since_ms = std::max(since_ms, rank.still_since_ms);
      if (IsStarting(rank)) since_ms = std::max(since_ms, rank.quiet_since_ms);
    }
    return since_ms;
  }

  // The longest limit of the phases in which the ranks are, and longest_pause, which counts
  // whatever the phase.
  std::optional<int64_t> LimitMs() const {
    std::optional<int64_t> limit_ms = 0;
    for (const auto& [number, rank] : gang_->ranks) {
      if (!ReportsSteps(rank)) continue;
      const std::optional<int64_t> of_rank = PhaseLimitMs(rank);
      if (!of_rank.has_value()) limit_ms = std::nullopt;
      if (limit_ms.has_value()) limit_ms = std::max(*limit_ms, *of_rank);
    }
    const bool stepped = LastStep(*gang_) > attempt_.resume_step();
    if (!rules_.has_longest_pause() || !stepped) return limit_ms;
    const int64_t longest_ms = ToMs(rules_.longest_pause());
    return limit_ms.has_value() ? std::min(*limit_ms, longest_ms) : longest_ms;
  }

  std::optional<int64_t> PhaseLimitMs(const RankObservation& rank) const {
    const std::optional<Phase> phase = PhaseOf(rank.phase);
    if (!phase.has_value()) return std::nullopt;
    switch (*phase) {
      case Phase::kTrain:
        return TrainLimitMs();
      case Phase::kInit:
      case Phase::kLoad:
        return LimitAfter(LongestStartMs(entry_.job));
      case Phase::kCheckpoint:
      case Phase::kEval:
        return LimitOfSave(rank.phase);
      case Phase::kHeal:  // Has a limit of its own (TRAINYARD_HEAL_WAIT).
      case Phase::kStandby:
      case Phase::kDone:
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<int64_t> LimitAfter(const std::optional<int64_t>& earlier_ms) const {
    if (!earlier_ms.has_value()) return std::nullopt;
    return std::max(kShortestPhaseLimitMs, Times(*earlier_ms));
  }

  // Phases of a name may be of two kinds, such as short and long evaluations. Where a long one was
  // taken for a hang its length is not known: each such verdict in a row gives the next one more.
  std::optional<int64_t> LimitOfSave(const std::string& phase) const {
    std::optional<int64_t> limit_ms =
        LimitAfter(LongestPhaseMs(observations_, entry_.job.id(), phase));
    for (int i = 0; limit_ms.has_value() && i < HangsInARow(); ++i) *limit_ms *= kMorePatience;
    return limit_ms;
  }

  // Before its second step a gang may compile, for a time that nobody knows.
  std::optional<int64_t> TrainLimitMs() const {
    if (LastStep(*gang_) < attempt_.resume_step() + 2) return std::nullopt;
    int64_t slow_ms = gang_->slow_steps_ms.empty() ? 0 : *gang_->slow_steps_ms.rbegin();
    // Nobody has seen steps: both the worker and this controller have begun anew.
    const int64_t least_ms = slow_ms > 0 ? ToMs(rules_.min_stall()) : options_.lease_ms;
    slow_ms = std::max(slow_ms, static_cast<int64_t>(1000 * gang_->step_times.Slow()) * Stride());
    return std::max(least_ms, Times(slow_ms));
  }

  int HangsInARow() const {
    int hangs = 0;
    for (int i = entry_.job.attempts_size() - 2; i >= 0 && hangs < kMostHangsInARow; --i) {
      if (entry_.job.attempts(i).verdict().cause() != v1::VERDICT_CAUSE_HUNG) break;
      ++hangs;
    }
    return hangs;
  }

  int64_t Times(int64_t ms) const {
    return static_cast<int64_t>(rules_.factor() * static_cast<double>(ms));
  }

  // Steps between two that the program tells of.
  int64_t Stride() const {
    const auto& [first, second] = gang_->first_steps;
    return std::max<int64_t>(1, second - first);
  }

  // The last save and the exits take as long as they take.
  bool IsFinishing() const {
    const int64_t total = TotalSteps(*gang_, entry_.job);
    return total > 0 && LastStep(*gang_) >= total;
  }

  // True when every rank runs on a node whose reports come without a pause. A gang with an
  // unresponsive node is judged by the evidence about that node.
  bool AllReportSteadily() const {
    return std::ranges::all_of(attempt_.ranks(), [&](const v1::RankPlacement& placement) {
      const auto rank = gang_->ranks.find(PlaceOf(placement));
      return !IsSeated(placement) ||
             (rank != gang_->ranks.end() && rank->second.running &&
              HasSettledReports(observations_, options_, placement.node_id(), now_));
    });
  }

  void NameCulprits(Hang& hang) const {
    if (const std::optional<GroupWait> wait = FindGroupWait(*gang_, GangSize(attempt_))) {
      hang.ranks = wait->culprits;
      absl::StrAppend(&hang.evidence, "; ", GroupWaitText(*wait));
    } else if (std::vector<int> apart = RanksApart(); !apart.empty()) {
      hang.ranks = std::move(apart);
      absl::StrAppend(
          &hang.evidence, "; ", RanksText(hang.ranks), hang.ranks.size() == 1 ? " is" : " are",
          " not where the others wait: ", PlaceText(gang_->ranks.at(hang.ranks.front())));
    } else {
      for (const auto& [number, rank] : gang_->ranks) hang.ranks.push_back(number);
      if (hang.ranks.size() > 1) {
        absl::StrAppend(&hang.evidence, "; nothing tells which rank keeps the others waiting");
      }
    }
    if (hang.ranks.size() > 1 || hang.ranks.empty()) return;
    absl::StrAppend(&hang.evidence, " (rank ", hang.ranks.front(), " on ",
                    NodeName(state_, MemberAt(attempt_, hang.ranks.front()).node_id()), ")");
  }

  static std::string PlaceText(const RankObservation& rank) {
    return absl::StrCat("step ", rank.step, ", ", rank.phase);
  }

  // Ranks in another phase than most, or at an earlier step than the others; none when that tells
  // nothing.
  std::vector<int> RanksApart() const {
    std::map<std::string, std::vector<int>> by_phase;
    std::map<int64_t, std::vector<int>> by_step;
    int64_t shortest_slow_ms = std::numeric_limits<int64_t>::max();
    for (const auto& [number, rank] : gang_->ranks) {
      if (!ReportsSteps(rank)) return {};
      by_phase[rank.phase].push_back(number);
      by_step[rank.step].push_back(number);
      shortest_slow_ms = std::min(shortest_slow_ms, rank.slow_step_ms);
    }
    if (by_phase.size() > 1) return Fewest(by_phase);
    const bool told_apart = shortest_slow_ms >= kStepsToldApartMs;
    return told_apart && by_step.size() == 2 ? by_step.begin()->second : std::vector<int>();
  }

  template <typename Key>
  std::vector<int> Fewest(const std::map<Key, std::vector<int>>& groups) const {
    const auto fewest =
        std::ranges::min_element(groups, {}, [](const auto& group) { return group.second.size(); });
    const bool is_minority = 2 * fewest->second.size() < gang_->ranks.size();
    return is_minority ? fewest->second : std::vector<int>();
  }

  const ClusterState& state_;
  const Observations& observations_;
  const CoreOptions& options_;
  const JobEntry& entry_;
  const v1::WatchdogSpec& rules_;
  const v1::Attempt& attempt_;
  const Timestamp now_;
  const AttemptObservation* gang_ = nullptr;
};

bool IsWatched(const JobEntry& entry) {
  const v1::WatchdogAction action = entry.job.spec().watchdog().action();
  return entry.job.state() == v1::JOB_STATE_RUNNING &&
         (action == v1::WATCHDOG_ACTION_RESTART || action == v1::WATCHDOG_ACTION_ALERT);
}

}  // namespace

std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now) {
  if (!IsWatched(entry)) return std::nullopt;
  return HangSearch(state, observations, options, entry, now).Find();
}

v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_HUNG);
  verdict.set_rank(-1);
  const bool is_told = static_cast<int>(hang.ranks.size()) < GangSize(attempt);
  if (is_told || GangSize(attempt) == 1) {
    verdict.set_rank(hang.ranks.front());
    verdict.set_node_id(MemberAt(attempt, hang.ranks.front()).node_id());
  }
  verdict.mutable_ranks()->Add(hang.ranks.begin(), hang.ranks.end());
  verdict.set_summary(absl::StrCat("the gang hung: ", hang.evidence));
  verdict.set_restartable(true);
  verdict.set_time_ms(now);
  return verdict;
}

std::optional<v1::AlertRaised> HangAlert(const JobEntry& entry, const Hang& hang) {
  const int64_t attempt = NewestAttempt(entry)->number();
  if (std::make_pair(attempt, hang.step) <= entry.watched) return std::nullopt;
  v1::AlertRaised alert;
  alert.set_job_id(entry.job.id());
  alert.set_attempt(attempt);
  alert.set_step(hang.step);
  alert.set_code(telemetry::kHung);
  alert.set_message(hang.evidence);
  alert.set_by_watchdog(true);
  return alert;
}

}  // namespace trainyard::controller
