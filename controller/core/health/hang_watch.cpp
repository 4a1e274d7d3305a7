#include "controller/core/health/hang_watch.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/health/gang_limit.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/left_ranks.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/cause_rules.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

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
    gang_ = ObservedAttempt(observations_, {entry_.job.id(), attempt_.number()});
    const bool starts = attempt_.state() == v1::ATTEMPT_STATE_STARTING;
    if (starts ? IsJustPlaced() : gang_ == nullptr || HasJustMoved()) return std::nullopt;
    const GangLimit limit = LimitOfGang(observations_, options_, entry_, now_);
    const int64_t still_ms = now_ - limit.since_ms;
    const bool is_over = limit.ms.has_value() && limit.since_ms > 0 && still_ms > *limit.ms;
    if (!is_over || RowOf(limit.state).at_limit != AtLimit::kStalled) return std::nullopt;
    if (starts) return Unstarted(still_ms);
    if (!AllReportSteadily(still_ms)) return std::nullopt;
    Hang hang{.step = LastStep(*gang_)};
    const char* missing = limit.output_counts ? "no activity for " : "no step for ";
    hang.evidence = absl::StrCat(missing, DurationText(still_ms), " after step ", hang.step,
                                 " (limit ", DurationText(*limit.ms), ")");
    NameCulprits(hang);
    return hang;
  }

 private:
  bool IsJustPlaced() const {
    const int64_t age_ms = now_ - attempt_.placed_time_ms();
    return age_ms >= 0 && age_ms <= options_.start_lease_ms;
  }

  // A shortcut for the usual case: returns true if a rank completed a step less than min_stall ago.
  // No limit is shorter than min_stall.
  bool HasJustMoved() const {
    const int64_t least_ms = ToMs(rules_.min_stall());
    return std::ranges::any_of(gang_->ranks, [&](const auto& rank) {
      return rank.second.running && ReportsSteps(rank.second) &&
             now_ - rank.second.still_since_ms <= least_ms;
    });
  }

  // Returns a stall of the ranks that have not started. Returns nullopt in these cases:
  // - All ranks have started.
  // - An unstarted rank is on a node without settled reports (start_evidence.h). node_evidence.h
  //   judges such nodes.
  // - A node reports an unstarted rank as running. The fact of its start will follow.
  std::optional<Hang> Unstarted(int64_t still_ms) const {
    Hang hang;
    for (const v1::RankPlacement* member : SeatedMembers(attempt_)) {
      const bool has_fact = entry_.started_ranks.contains(member->rank()) ||
                            entry_.exited_ranks.contains(member->rank());
      if (has_fact) continue;
      const bool is_seen = HasSettledReports(observations_, options_, member->node_id(), now_);
      if (!is_seen || IsReportedToRun(PlaceOf(*member))) return std::nullopt;
      hang.ranks.push_back(PlaceOf(*member));
    }
    if (hang.ranks.empty()) return std::nullopt;
    hang.evidence = absl::StrCat(RanksText(hang.ranks), hang.ranks.size() == 1 ? " has" : " have",
                                 " not started ", DurationText(still_ms), " after the start order");
    NameNode(hang);
    return hang;
  }

  bool IsReportedToRun(int place) const {
    if (gang_ == nullptr) return false;
    const auto rank = gang_->ranks.find(place);
    return rank != gang_->ranks.end() && rank->second.running;
  }

  // Returns true if the reports of the gang are complete enough to call a lack of progress a stall.
  // Each rank must have exited with 0, or run on a node with settled reports (start_evidence.h).
  // After the lease, reports with pauses suffice, even for a rank that no longer runs but whose
  // exit is not reported yet. A gang with an unresponsive node is judged by node_evidence.h
  // instead. A gang that rank 0 leads continues without its other ranks, so only rank 0 must
  // report.
  bool AllReportSteadily(int64_t still_ms) const {
    const std::set<int> left = PlacesLeft(entry_);
    return std::ranges::all_of(attempt_.ranks(), [&](const v1::RankPlacement& placement) {
      if (!IsSeated(placement) || left.contains(PlaceOf(placement))) return true;
      if (PlaceOf(placement) != 0 && FirstRankLeads(entry_)) return true;
      const auto rank = gang_->ranks.find(PlaceOf(placement));
      if (rank == gang_->ranks.end()) return false;
      if (rank->second.running &&
          HasSettledReports(observations_, options_, placement.node_id(), now_)) {
        return true;
      }
      return still_ms > options_.lease_ms && ReportsAtTimes(placement.node_id());
    });
  }

  bool ReportsAtTimes(const std::string& node_id) const {
    const auto node = observations_.nodes.find(node_id);
    return node != observations_.nodes.end() &&
           now_ - node->second.last_report_ms < options_.lost_after_ms;
  }

  void NameCulprits(Hang& hang) const {
    if (const std::optional<LeftRanks> left = FindLeftRanks(*gang_, entry_)) {
      hang.ranks = left->culprits;
      hang.left_early = left->left_early;
      absl::StrAppend(&hang.evidence, "; ", LeftRanksText(*gang_, *left));
      NameNode(hang);
      hang.evidence += LeftRanksReason(*gang_, entry_.job, *left);
      return;
    }
    if (const std::optional<GroupWait> wait = FindGroupWait(*gang_, GangSize(attempt_))) {
      hang.ranks = wait->culprits;
      absl::StrAppend(&hang.evidence, "; ", GroupWaitText(*wait));
    } else if (std::vector<int> apart = RanksApart(); !apart.empty()) {
      hang.ranks = std::move(apart);
      absl::StrAppend(&hang.evidence, "; ", RanksText(hang.ranks),
                      hang.ranks.size() == 1 ? " is" : " are",
                      " at a different point than the other ranks: ",
                      PlaceText(gang_->ranks.at(hang.ranks.front())));
    } else {
      for (const auto& [number, rank] : gang_->ranks) hang.ranks.push_back(number);
      if (hang.ranks.size() > 1) {
        absl::StrAppend(&hang.evidence, "; no report shows which rank is blocking the others");
      }
    }
    NameNode(hang);
  }

  void NameNode(Hang& hang) const {
    if (hang.ranks.size() != 1) return;
    absl::StrAppend(&hang.evidence, " (rank ", hang.ranks.front(), " on ",
                    NodeName(state_, MemberAt(attempt_, hang.ranks.front()).node_id()), ")");
  }

  static std::string PlaceText(const RankObservation& rank) {
    return absl::StrCat("step ", rank.step, ", ", rank.phase);
  }

  // Returns the ranks that are in another phase than most ranks, or at an earlier step than the
  // others. Empty if neither criterion singles out some of the ranks.
  std::vector<int> RanksApart() const {
    std::map<std::string, std::vector<int>> by_phase;
    std::map<int64_t, std::vector<int>> by_step;
    for (const auto& [number, rank] : gang_->ranks) {
      if (!ReportsSteps(rank)) return {};
      by_phase[rank.phase].push_back(number);
      by_step[rank.step].push_back(number);
    }
    if (by_phase.size() > 1) return Fewest(by_phase);
    const bool is_distinct = HasDistinctSteps(*gang_) && by_step.size() == 2;
    return is_distinct ? by_step.begin()->second : std::vector<int>();
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

}  // namespace

std::optional<Hang> FindHang(const ClusterState& state, const Observations& observations,
                             const CoreOptions& options, const JobEntry& entry, Timestamp now) {
  const v1::JobState job_state = entry.job.state();
  const bool lives = job_state == v1::JOB_STATE_RUNNING || job_state == v1::JOB_STATE_STARTING;
  if (!lives || !IsWatched(entry.job.spec())) return std::nullopt;
  return HangSearch(state, observations, options, entry, now).Find();
}

v1::Verdict HungVerdict(const v1::Attempt& attempt, const Hang& hang, Timestamp now) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_STALLED);
  verdict.set_rank(-1);
  const bool is_identified = static_cast<int>(hang.ranks.size()) < GangSize(attempt);
  if (is_identified || GangSize(attempt) == 1) {
    verdict.set_rank(hang.ranks.front());
    if (!hang.left_early) {
      verdict.set_node_id(MemberAt(attempt, hang.ranks.front()).node_id());
    }
  }
  verdict.mutable_ranks()->Add(hang.ranks.begin(), hang.ranks.end());
  verdict.set_summary(absl::StrCat("the gang stalled: ", hang.evidence));
  verdict.set_restartable(RulesOf(verdict.cause()).restartable);
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
  alert.set_code(telemetry::kStalled);
  alert.set_message(hang.evidence);
  alert.set_by_watchdog(true);
  return alert;
}

}  // namespace trainyard::controller
