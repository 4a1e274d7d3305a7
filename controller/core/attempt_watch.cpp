#include "controller/core/attempt_watch.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/attempt_end.h"
#include "controller/core/health/hang_watch.h"
#include "controller/core/health/node_evidence.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/health/straggler_watch.h"
#include "controller/core/observations/first_step.h"
#include "controller/core/observations/stall.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/text.h"
#include "controller/core/support/wait.h"
#include "controller/core/verdict/failure_policy.h"
#include "controller/core/verdict/first_failure.h"
#include "controller/core/verdict/heal_policy.h"
#include "controller/core/verdict/time_limit_end.h"

namespace trainyard::controller {
namespace {

// The maximum time for which an interrupted attempt waits for a verdict on a rank that failed
// before the pause or the yield. This time exceeds kReportedLossWaitMs, the longest time for which
// such a verdict waits.
constexpr int64_t kLongestJudgementMs = kReportedLossWaitMs + 3000;

bool IsLost(const ClusterState& state, const std::string& node_id) {
  return state.lost_nodes.contains(node_id);
}

// Returns true if none of the attempt's ranks can still be running. Two kinds of ranks are ignored.
// Ranks on lost or unresponsive nodes are fenced by the attempt number. Processes that survive
// SIGKILL are stuck in the kernel and will not run again. In both cases the slots stay taken until
// the worker confirms the end.
bool IsCleared(const ClusterState& state, const Observations& observations,
               const UnresponsiveNodes& unresponsive, const JobEntry& entry,
               const v1::Attempt& attempt) {
  const AttemptKey key{entry.job.id(), attempt.number()};
  return std::ranges::all_of(GangNodes(attempt), [&](const std::string& node_id) {
    return entry.cleared_nodes.contains(node_id) || IsLost(state, node_id) ||
           unresponsive.contains(node_id) || !UnkillableOn(observations, node_id, key).empty();
  });
}

// Computes the events that are due for live attempts.
class AttemptWatch {
 public:
  AttemptWatch(const ClusterState& state, const Observations& observations,
               const CoreOptions& options, RendezvousPorts& ports, Timestamp now)
      : state_(state),
        observations_(observations),
        options_(options),
        ports_(ports),
        now_(now),
        unresponsive_(FindUnresponsiveNodes(state, observations, options, now)),
        verdicts_(VerdictsOnUnresponsiveNodes(state, observations, options, unresponsive_, now)) {}

  std::vector<v1::Event> EventsDue() {
    for (const int64_t job_id : state_.live_jobs) Watch(state_.jobs.at(job_id));
    return std::move(events_);
  }

 private:
  void Watch(const JobEntry& entry) {
    const v1::Attempt& attempt = *LiveAttempt(entry);
    NoteFirstStep(entry, attempt);
    NoteRateChange(entry, attempt);
    NoteStall(entry, attempt);
    NoteLostTraining(entry, attempt);
    if (attempt.state() != v1::ATTEMPT_STATE_STOPPING) {
      if (const auto verdict = Judge(entry)) return TakeFailure(entry, attempt, *verdict);
      if (WatchTimeLimit(entry, attempt)) return;
      if (attempt.state() == v1::ATTEMPT_STATE_STARTING) {
        const bool all_started = CountSeated(attempt, entry.started_ranks) == GangSize(attempt);
        if (all_started) return Run(entry, attempt);
        if (const auto hang = FindHang(state_, observations_, options_, entry, now_)) {
          TakeHang(entry, attempt, *hang);
        }
        return;
      }
      if (IsHealing(attempt) && !GangSucceeded(entry)) return WatchHeal(entry, attempt);
      if (const auto hang = FindHang(state_, observations_, options_, entry, now_)) {
        return TakeHang(entry, attempt, *hang);
      }
      std::ranges::move(StragglerEvents(state_, observations_, entry, now_),
                        std::back_inserter(events_));
      if (!GangSucceeded(entry)) return;
    }
    if (HidesFailure(entry, attempt)) {
      if (const auto verdict = JudgeExits(state_, observations_, entry, now_)) {
        return Fail(entry, attempt, *verdict);
      }
      if (!HasPassed(entry.first_failure_ms, entry.first_failure_ms + kLongestJudgementMs, now_)) {
        return;
      }
    }
    if (!IsCleared(state_, observations_, unresponsive_, entry, attempt)) return;
    std::ranges::move(AttemptEndEvents(observations_, entry, now_), std::back_inserter(events_));
  }

  // Returns true if a rank had already failed when the job was paused or asked to yield, and the
  // failure has not been judged yet.
  static bool HidesFailure(const JobEntry& entry, const v1::Attempt& attempt) {
    return IsInterrupted(attempt) && entry.first_failure_ms != 0 && !attempt.has_verdict();
  }

  // Returns true if the attempt is stopped now, because it has reached the time limit.
  bool WatchTimeLimit(const JobEntry& entry, const v1::Attempt& attempt) {
    if (auto event = TimeLimitEvent(entry, observations_, now_)) {
      events_.push_back(*std::move(event));
      return true;
    }
    if (IsWarningDue(entry, now_)) {
      v1::TimeLimitWarned& warned =
          *events_.emplace_back(ControllerEvent(now_)).mutable_time_limit_warned();
      warned.set_job_id(entry.job.id());
      warned.set_attempt(attempt.number());
    }
    return false;
  }

  void NoteFirstStep(const JobEntry& entry, const v1::Attempt& attempt) {
    if (attempt.first_step() != 0) return;
    const auto observed = observations_.attempts.find({entry.job.id(), attempt.number()});
    if (observed == observations_.attempts.end()) return;
    const auto first = FirstStepShown(attempt, observed->second, observations_.since_ms);
    if (!first.has_value()) return;
    v1::AttemptBegan& began = *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_began();
    began.set_job_id(entry.job.id());
    began.set_attempt(attempt.number());
    began.set_first_step(*first);
  }

  void NoteRateChange(const JobEntry& entry, const v1::Attempt& attempt) {
    const AttemptObservation* observed =
        ObservedAttempt(observations_, {entry.job.id(), attempt.number()});
    const bool is_new =
        observed != nullptr && observed->rate_change.has_value() && !attempt.has_rate_change();
    if (!is_new) return;
    v1::LearningRateChanged& changed =
        *events_.emplace_back(ControllerEvent(now_)).mutable_learning_rate_changed();
    changed.set_job_id(entry.job.id());
    changed.set_attempt(attempt.number());
    changed.mutable_change()->set_step(observed->rate_change->step);
    changed.mutable_change()->set_before(observed->rate_change->before);
    changed.mutable_change()->set_after(observed->rate_change->after);
  }

  void NoteStall(const JobEntry& entry, const v1::Attempt& attempt) {
    const AttemptObservation* observed =
        ObservedAttempt(observations_, {entry.job.id(), attempt.number()});
    if (observed == nullptr) return;
    const std::optional<Stall> stall = UnrecordedStall(*observed, attempt);
    if (!stall.has_value()) return;
    v1::StallEnded& ended = *events_.emplace_back(ControllerEvent(now_)).mutable_stall_ended();
    ended.set_job_id(entry.job.id());
    ended.set_attempt(attempt.number());
    ended.set_since_ms(stall->since_ms);
    ended.set_until_ms(stall->until_ms);
  }

  void NoteLostTraining(const JobEntry& entry, const v1::Attempt& attempt) {
    for (const LostTraining& lost :
         UnrecordedLosses(entry.job.id(), observations_, attempt, LostPeriods::Scope::kComplete)) {
      v1::TrainingTimeLost& event =
          *events_.emplace_back(ControllerEvent(now_)).mutable_training_time_lost();
      event.set_job_id(entry.job.id());
      event.set_attempt(attempt.number());
      event.set_phase(lost.phase);
      event.set_until_ms(lost.until_ms);
      event.set_lost_ms(lost.lost_ms);
    }
  }

  std::optional<v1::Verdict> Judge(const JobEntry& entry) {
    if (auto verdict = JudgeExits(state_, observations_, entry, now_)) {
      ExplainWarning(entry, *verdict);
      return verdict;
    }
    const auto lost = verdicts_.find(entry.job.id());
    if (lost == verdicts_.end()) return std::nullopt;
    return lost->second;
  }

  // If a usable spare node exists, the gang continues on that node in the same attempt. Otherwise
  // the attempt fails.
  void TakeFailure(const JobEntry& entry, const v1::Attempt& attempt, const v1::Verdict& verdict) {
    const HealDecision heal = DecideHeal(state_, observations_, entry, verdict, now_);
    if (heal.awaits_reports) return;
    if (heal.seats.empty()) return Fail(entry, attempt, VerdictWithoutHeal(attempt, verdict));
    const std::string& address = state_.nodes.at(heal.master_node_id).node.address();
    const int64_t generation = GenerationOf(attempt) + 1;
    const auto port =
        ports_.Find({entry.job.id(), attempt.number()}, generation, attempt.master_port(), address);
    if (!port.has_value()) return Fail(entry, attempt, verdict);
    v1::AttemptHealing& healing =
        *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_healing();
    healing.set_job_id(entry.job.id());
    healing.set_attempt(attempt.number());
    healing.set_generation(generation);
    *healing.mutable_verdict() = verdict;
    healing.mutable_seats()->Add(heal.seats.begin(), heal.seats.end());
    healing.set_master_address(address);
    healing.set_master_port(*port);
    healing.set_step(heal.step);
    // A node that disconnects during a heal delays the heal, but the delay is no evidence of a
    // fault. The node is not blamed.
    const bool holds_up = IsHealing(attempt) && verdict.cause() == v1::VERDICT_CAUSE_NODE_LOST;
    if (!holds_up) Blame(entry, attempt, verdict);
  }

  void WatchHeal(const JobEntry& entry, const v1::Attempt& attempt) {
    if (auto healed = FindHealed(observations_, entry, now_)) {
      *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_healed() = *std::move(healed);
    } else if (const auto verdict = VerdictOnHeal(observations_, options_, entry, now_)) {
      Fail(entry, attempt, *verdict);
    }
  }

  void Fail(const JobEntry& entry, const v1::Attempt& attempt, const v1::Verdict& verdict) {
    v1::AttemptFailed& failed =
        *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_failed();
    failed.set_job_id(entry.job.id());
    failed.set_attempt(attempt.number());
    *failed.mutable_verdict() = verdict;
    if (verdict.cause() == v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED) Reject(entry, attempt, verdict);
    if (verdict.cause() == v1::VERDICT_CAUSE_NODE_FAULT) CloseNode(entry, attempt, verdict);
    Blame(entry, attempt, verdict);
  }

  void Blame(const JobEntry& entry, const v1::Attempt& attempt, const v1::Verdict& verdict) {
    // A lost node fails all of its gangs at once. Only the first of these failures is counted
    // against the node.
    if (verdict.node_id().empty() || blamed_.contains(verdict.node_id())) return;
    std::vector<v1::Event> blame = BlameFor(verdict, entry.job, attempt, state_, options_, now_);
    if (!blame.empty()) blamed_.insert(verdict.node_id());
    std::ranges::move(blame, std::back_inserter(events_));
  }

  void TakeHang(const JobEntry& entry, const v1::Attempt& attempt, const Hang& hang) {
    if (entry.job.spec().watchdog().action() == v1::WATCHDOG_ACTION_RESTART) {
      Fail(entry, attempt, HungVerdict(attempt, hang, now_));
    } else if (auto alert = HangAlert(entry, hang)) {
      *events_.emplace_back(ControllerEvent(now_)).mutable_alert_raised() = *std::move(alert);
    }
  }

  void CloseNode(const JobEntry& entry, const v1::Attempt& attempt, const v1::Verdict& verdict) {
    const std::string reason =
        absl::StrCat("could not start rank ", verdict.rank(), " of ", JobText(entry.job), ": ",
                     entry.exited_ranks.at(MemberAt(attempt, verdict.rank()).rank()).spawn_error());
    auto event = FailedStart(state_.nodes.at(verdict.node_id()), attempt, reason, now_);
    if (event.has_value()) events_.push_back(*std::move(event));
  }

  void Reject(const JobEntry& entry, const v1::Attempt& attempt, const v1::Verdict& verdict) {
    v1::CheckpointRejected& rejected =
        *events_.emplace_back(ControllerEvent(now_)).mutable_checkpoint_rejected();
    rejected.set_job_id(entry.job.id());
    rejected.set_attempt(attempt.number());
    rejected.set_step(attempt.resume_step());
    rejected.set_path(verdict.checkpoint());
    rejected.set_reason(verdict.summary());
  }

  void Run(const JobEntry& entry, const v1::Attempt& attempt) {
    v1::AttemptRunning& running =
        *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_running();
    running.set_job_id(entry.job.id());
    running.set_attempt(attempt.number());
    running.set_resume_step(attempt.resume_step());
  }

  const ClusterState& state_;
  const Observations& observations_;
  const CoreOptions& options_;
  RendezvousPorts& ports_;
  const Timestamp now_;
  const UnresponsiveNodes unresponsive_;
  const std::map<int64_t, v1::Verdict> verdicts_;
  // Nodes that events in events_ already blame.
  std::set<std::string> blamed_;
  std::vector<v1::Event> events_;
};

}  // namespace

std::vector<v1::Event> AttemptEventsDue(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, RendezvousPorts& ports,
                                        Timestamp now) {
  return AttemptWatch(state, observations, options, ports, now).EventsDue();
}

}  // namespace trainyard::controller
