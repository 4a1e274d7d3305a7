#include "controller/core/health/gang_limit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/left_ranks.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/support/core_options.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/contract/phase.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// After each consecutive stalled attempt the limits are multiplied by kMorePatience, at most
// kMostStallsInARow times. A phase that was judged as a stall may only have been long, such as the
// slower of two kinds of evaluations.
constexpr int64_t kMorePatience = 3;
constexpr int kMostStallsInARow = 4;

// Returns the time, or 0 (long ago) if the time is in the future because the clock was set back.
Timestamp Past(Timestamp time_ms, Timestamp now) { return time_ms > now ? 0 : time_ms; }

// Returns an upper bound on the longest phase of this kind in the job's ended attempts: the largest
// total time that one attempt spent in such phases. Returns nullopt if no attempt had such a phase.
std::optional<int64_t> EarlierPhasesMs(const v1::Job& job, Phase phase) {
  int64_t longest_ms = 0;
  for (const v1::Attempt& attempt : job.attempts()) {
    if (attempt.state() != v1::ATTEMPT_STATE_ENDED) continue;
    const v1::TimeUse& use = attempt.time_use();
    longest_ms =
        std::max(longest_ms, phase == Phase::kEval ? use.evaluation_ms() : use.checkpoint_ms());
  }
  return longest_ms > 0 ? std::optional<int64_t>(longest_ms) : std::nullopt;
}

// Computes the limit of a running gang.
class RunningLimit {
 public:
  RunningLimit(const Observations& observations, const CoreOptions& options, const JobEntry& entry,
               const AttemptObservation& gang)
      : observations_(observations),
        options_(options),
        job_(entry.job),
        rules_(entry.job.spec().watchdog()),
        attempt_(*LiveAttempt(entry)),
        gang_(gang),
        left_(PlacesLeft(entry)) {
    const int64_t total = TotalSteps(gang, job_);
    last_step_ = LastStep(gang);
    // In a data job, the last step is only that of the current pass.
    at_last_step_ = ProgramRulesOf(job_.spec()).has_equal_steps && total > 0 && last_step_ >= total;
    reports_ =
        std::ranges::any_of(gang.ranks, [](const auto& rank) { return ReportsSteps(rank.second); });
  }

  GangLimit Find() const {
    std::optional<GangLimit> longest;
    // Cached by phase, because the ranks of a large gang are in only a few different phases.
    std::map<std::string, GangLimit> by_phase;
    Timestamp since_ms = 0, still_since_ms = 0;
    for (const auto& [place, rank] : gang_.ranks) {
      if (left_.contains(place)) continue;
      // Ranks that report neither steps nor phases are ignored while other ranks report them. Once
      // a rank has exited with 0, all ranks count.
      if (reports_ && left_.empty() && !ReportsSteps(rank)) continue;
      const auto [found, is_new] = by_phase.try_emplace(rank.phase);
      GangLimit& limit = found->second;
      if (is_new) limit = reports_ ? InPhase(rank.phase) : Silent();
      since_ms = std::max(since_ms, SinceOf(rank, limit));
      still_since_ms = std::max(still_since_ms, LastProgress(rank));
      if (!longest.has_value() || IsLonger(limit, *longest)) longest = limit;
    }
    if (!longest.has_value()) return Silent();
    longest->since_ms = since_ms;
    ApplyLongestPause(still_since_ms, *longest);
    if (longest->ms.has_value()) longest->ms = std::max(*longest->ms, ToMs(rules_.min_stall()));
    return *longest;
  }

 private:
  static Timestamp SinceOf(const RankObservation& rank, const GangLimit& limit) {
    const Timestamp moved_ms = LastProgress(rank);
    return limit.output_counts ? std::max(moved_ms, rank.quiet_since_ms) : moved_ms;
  }

  static bool IsLonger(const GangLimit& limit, const GangLimit& other) {
    if (!other.ms.has_value()) return false;
    return !limit.ms.has_value() || *limit.ms > *other.ms;
  }

  GangLimit Silent() const {
    if (!RunsOurTrainer(job_.spec())) {
      return {.state = GangState::kSilent, .source = LimitSource::kNoTelemetry};
    }
    return {.state = GangState::kSilent,
            .ms = options_.lease_ms,
            .source = LimitSource::kTrainerReports,
            .output_counts = true};
  }

  GangLimit InPhase(const std::string& name) const {
    const bool finishes = at_last_step_ || !left_.empty();
    const GangState finish = at_last_step_ ? GangState::kFinish : GangState::kLeft;
    // Without equal steps, the duration of earlier steps is no limit for the next one.
    if (name.empty() || !ProgramRulesOf(job_.spec()).has_equal_steps) {
      if (finishes) return Finish(finish);
      if (!name.empty()) return Unknown(GangState::kPreparesData);
      return {.state = GangState::kUnphased, .source = LimitSource::kNoPhases};
    }
    const std::optional<Phase> phase = PhaseOf(name);
    if (!phase.has_value()) return Unknown(GangState::kOwnPhase);
    switch (*phase) {
      case Phase::kTrain:
        if (at_last_step_) return Finish(finish);
        return left_.empty() ? Train() : TrainWithoutLeft();
      case Phase::kInit:
      case Phase::kLoad:
        return Start();
      case Phase::kCheckpoint:
        return Save(GangState::kCheckpoint, *phase);
      case Phase::kEval:
        return Save(GangState::kEvaluation, *phase);
      case Phase::kHeal:
      case Phase::kStandby:
        return {.state = GangState::kAwaitsHeal,
                .ms = options_.lease_ms,
                .source = LimitSource::kHealWait};
      case Phase::kDone:
        return Finish(GangState::kFinish);
      case Phase::kBlocks:
      case Phase::kWait:
      case Phase::kDecide:
      case Phase::kMerge:
      case Phase::kAssemble:
        return Unknown(GangState::kPreparesData);
    }
    return Unknown(GangState::kOwnPhase);
  }

  GangLimit Finish(GangState state) const {
    return {.state = state,
            .ms = Patient(options_.finish_lease_ms),
            .source = LimitSource::kFinishLease,
            .output_counts = true};
  }

  GangLimit Unknown(GangState state) const {
    return {.state = state,
            .ms = Patient(options_.unknown_phase_ms),
            .source = LimitSource::kUnknownPhase,
            .output_counts = true};
  }

  GangLimit Start() const {
    const std::optional<int64_t> longest_ms = LongestStartMs(job_);
    if (!longest_ms.has_value()) return Unknown(GangState::kStart);
    return {.state = GangState::kStart,
            .ms = AfterPhase(*longest_ms),
            .source = LimitSource::kEarlierStarts,
            .output_counts = true};
  }

  GangLimit Save(GangState state, Phase phase) const {
    std::optional<int64_t> longest_ms =
        LongestPhaseMs(observations_, job_.id(), std::string(PhaseName(phase)));
    if (!longest_ms.has_value()) longest_ms = EarlierPhasesMs(job_, phase);
    if (!longest_ms.has_value()) return Unknown(state);
    return {.state = state,
            .ms = Patient(AfterPhase(*longest_ms)),
            .source = LimitSource::kEarlierPhases};
  }

  // Before the second step the limit is longer, because the gang may be compiling.
  GangLimit Train() const {
    const int64_t steps = last_step_ - attempt_.resume_step();
    if (steps >= 2) return AtPace();
    const GangState state = steps < 1 ? GangState::kFirstStep : GangState::kSecondStep;
    if (steps == 1 && !gang_.step_times.empty()) {
      return {
          .state = state, .ms = AfterPhase(LongestStepMs()), .source = LimitSource::kFirstStepTime};
    }
    if (!FindGroupWait(gang_, GangSize(attempt_)).has_value()) return Unknown(state);
    return {.state = state, .ms = options_.lease_ms, .source = LimitSource::kGroupWait};
  }

  GangLimit AtPace() const {
    GangLimit limit{.state = GangState::kTrain};
    if (!gang_.slow_steps_ms.empty()) {
      limit.ms = Times(std::max(*gang_.slow_steps_ms.rbegin(), SlowStepMs()));
      limit.source = LimitSource::kSlowSteps;
    } else if (gang_.first_steps[1] > 0 && !gang_.step_times.empty()) {
      limit.ms = Times(LongestStepMs());
      limit.source = LimitSource::kStepTimes;
    } else if (const int64_t earlier_ms = EarlierStepMs(); earlier_ms > 0) {
      limit.ms = AfterPhase(earlier_ms);
      limit.source = LimitSource::kEarlierSteps;
    } else {
      limit.ms = options_.lease_ms;
      limit.source = LimitSource::kNoPace;
    }
    return limit;
  }

  // Returns the limit after some ranks exited with 0. Either the other ranks wait for an exited
  // rank, or training is over and the other ranks save without reporting a phase. In the second
  // case the limit is longer and output counts as progress.
  GangLimit TrainWithoutLeft() const {
    GangLimit limit = Train();
    limit.state = GangState::kLeft;
    const std::optional<GroupWait> wait = FindGroupWait(gang_, GangSize(attempt_));
    const bool wait_for_left =
        wait.has_value() &&
        std::ranges::any_of(wait->missing, [&](int place) { return left_.contains(place); });
    if (wait_for_left || !limit.ms.has_value()) return limit;
    limit.ms = std::max(kShortestPhaseLimitMs, *limit.ms);
    limit.output_counts = true;
    return limit;
  }

  // longest_pause limits the time between two steps, so it does not apply after the last step.
  // kLeft and kFinish may follow the last step, so in these states output also counts as progress.
  void ApplyLongestPause(Timestamp still_since_ms, GangLimit& limit) const {
    const bool stepped = last_step_ > attempt_.resume_step();
    if (!rules_.has_longest_pause() || !stepped || at_last_step_) return;
    const int64_t pause_ms = ToMs(rules_.longest_pause());
    if (limit.ms.has_value() && *limit.ms <= pause_ms) return;
    limit.ms = pause_ms;
    limit.source = LimitSource::kLongestPause;
    if (limit.state == GangState::kLeft || limit.state == GangState::kFinish) return;
    limit.since_ms = still_since_ms;
    limit.output_counts = false;
  }

  int64_t Times(int64_t ms) const {
    return static_cast<int64_t>(rules_.factor() * static_cast<double>(ms));
  }
  int64_t AfterPhase(int64_t earlier_ms) const {
    return std::max(kShortestPhaseLimitMs, Times(earlier_ms));
  }

  int64_t Patient(int64_t limit_ms) const {
    int stalls = 0;
    for (int i = job_.attempts_size() - 2; i >= 0 && stalls < kMostStallsInARow; --i, ++stalls) {
      if (job_.attempts(i).verdict().cause() != v1::VERDICT_CAUSE_STALLED) break;
      limit_ms *= kMorePatience;
    }
    return limit_ms;
  }

  // Returns the distance between two reported steps: 10 if the program reports every tenth step.
  int64_t Stride() const {
    const auto& [first, second] = gang_.first_steps;
    return std::max<int64_t>(1, second - first);
  }
  int64_t SlowStepMs() const {
    return static_cast<int64_t>(1000 * gang_.step_times.Slow()) * Stride();
  }
  int64_t LongestStepMs() const {
    return static_cast<int64_t>(1000 * gang_.step_times.Longest()) * Stride();
  }

  // Returns the duration of the newest step in milliseconds, which is read from the store after a
  // restart of the controller. Returns 0 if the duration is unknown. Only for trainyard-trainer,
  // because trainyard-trainer reports every step.
  int64_t EarlierStepMs() const {
    const auto progress = observations_.progress.find(job_.id());
    if (progress == observations_.progress.end() || !RunsOurTrainer(job_.spec())) return 0;
    return static_cast<int64_t>(1000 * progress->second.step_seconds());
  }

  const Observations& observations_;
  const CoreOptions& options_;
  const v1::Job& job_;
  const v1::WatchdogSpec& rules_;
  const v1::Attempt& attempt_;
  const AttemptObservation& gang_;
  const std::set<int> left_;
  int64_t last_step_ = 0;
  bool at_last_step_ = false;
  bool reports_ = false;
};

GangLimit NotStarted(const Observations& observations, const CoreOptions& options,
                     const v1::Attempt& attempt, Timestamp now) {
  Timestamp since_ms = std::max(
      {Past(attempt.placed_time_ms(), now), observations.since_ms, observations.resumed_ms});
  for (const std::string& node_id : NodesOf(SeatedMembers(attempt))) {
    const auto node = observations.nodes.find(node_id);
    if (node == observations.nodes.end()) continue;
    since_ms = std::max(since_ms, node->second.reports_since_ms);
  }
  return {.state = GangState::kNotStarted,
          .ms = options.start_lease_ms,
          .source = LimitSource::kStartLease,
          .since_ms = since_ms};
}

GangLimit Stopping(const JobEntry& entry, Timestamp now) {
  return {.state = GangState::kStopping,
          .ms = StopGraceMs(entry) + kUnkillableReportMs,
          .source = LimitSource::kStopGrace,
          .since_ms = Past(LiveAttempt(entry)->stopping_time_ms(), now)};
}

// Returns, for example, "15 s without a step or a phase".
std::string AfterText(const GangLimit& limit) {
  const std::string time = DurationText(*limit.ms);
  if (limit.state == GangState::kNotStarted) return time;
  if (limit.output_counts) {
    return absl::StrCat(time, " without a step, a phase, telemetry or output");
  }
  return absl::StrCat(time, " without a step or a phase");
}

}  // namespace

bool IsWatched(const v1::JobSpec& spec) {
  const v1::WatchdogAction action = spec.watchdog().action();
  return action == v1::WATCHDOG_ACTION_RESTART || action == v1::WATCHDOG_ACTION_ALERT;
}

const GangStateRow& RowOf(GangState state) {
  return *std::ranges::find(kGangStates, state, &GangStateRow::state);
}

std::string SourceText(LimitSource source, const v1::JobSpec& spec) {
  const auto times = [&](const char* what) {
    return absl::StrCat(spec.watchdog().factor(), " x ", what);
  };
  switch (source) {
    case LimitSource::kNoTelemetry:
    case LimitSource::kNoPhases:
      return "no limit";
    case LimitSource::kStartLease:
      return "the limit for a start";
    case LimitSource::kTrainerReports:
      return "trainyard-trainer reports a phase as soon as it runs";
    case LimitSource::kUnknownPhase:
      return "the default, because the job has no earlier duration to compare with";
    case LimitSource::kEarlierStarts:
      return times("the job's longest start");
    case LimitSource::kEarlierPhases:
      return times("the job's longest earlier phase of this kind");
    case LimitSource::kGroupWait:
      return "ranks wait for a missing peer";
    case LimitSource::kFirstStepTime:
      return times("the duration of the first step");
    case LimitSource::kSlowSteps:
      return times("the job's slow step time");
    case LimitSource::kStepTimes:
      return times("the duration of the job's longest step so far");
    case LimitSource::kEarlierSteps:
      return times("the duration of the job's newest stored step");
    case LimitSource::kNoPace:
      return "the step time of the job is not known";
    case LimitSource::kFinishLease:
      return "the limit for finishing";
    case LimitSource::kLongestPause:
      return "watchdog.longest_pause";
    case LimitSource::kHealWait:
      return "the lease, which exceeds the time that ranks wait for an order";
    case LimitSource::kHealLimit:
      return "the limit for a heal";
    case LimitSource::kStopGrace:
      return "the grace period, then SIGKILL";
  }
  return "";
}

GangLimit LimitOfGang(const Observations& observations, const CoreOptions& options,
                      const JobEntry& entry, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (attempt.state() == v1::ATTEMPT_STATE_STOPPING || GangSucceeded(entry)) {
    return Stopping(entry, now);
  }
  if (attempt.state() == v1::ATTEMPT_STATE_STARTING) {
    return NotStarted(observations, options, attempt, now);
  }
  if (IsHealing(attempt)) {
    return {.state = GangState::kHealing,
            .ms = HealLimitMs(observations, options, entry),
            .source = LimitSource::kHealLimit,
            .since_ms = Past(attempt.heals().rbegin()->began_ms(), now)};
  }
  static const AttemptObservation kNothing;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt.number()});
  return RunningLimit(observations, options, entry, observed == nullptr ? kNothing : *observed)
      .Find();
}

std::string LimitText(const GangLimit& limit, const JobEntry& entry, Timestamp now) {
  const v1::JobSpec& spec = entry.job.spec();
  const GangStateRow& row = RowOf(limit.state);
  const std::string gang = absl::StrCat("the gang ", row.text, ": ");
  const bool is_stall = row.at_limit == AtLimit::kStalled;
  if (row.at_limit == AtLimit::kReported) {
    const bool is_over = limit.since_ms > 0 && now - limit.since_ms > *limit.ms;
    return is_over ? absl::StrCat("its ranks should have exited within ", DurationText(*limit.ms),
                                  " (", SourceText(limit.source, spec), ")")
                   : "";
  }
  if (is_stall && !IsWatched(spec)) {
    return gang + "watchdog.action is off, so stalls are not detected";
  }
  if (!limit.ms.has_value()) {
    return absl::StrCat(gang, "stalls are not detected; ",
                        limit.source == LimitSource::kNoPhases
                            ? "set watchdog.longest_pause to detect them"
                            : "set log_parser and watchdog.longest_pause to detect them");
  }
  const bool alerts = is_stall && spec.watchdog().action() == v1::WATCHDOG_ACTION_ALERT;
  const std::string after = is_stall ? AfterText(limit) : DurationText(*limit.ms);
  return absl::StrCat(gang, alerts ? "the watchdog alerts after " : "it is restarted after ", after,
                      " (", SourceText(limit.source, spec), ")");
}

}  // namespace trainyard::controller
