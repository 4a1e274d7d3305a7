#include "controller/core/verdict/failure_policy.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/observations/group_wait.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/support/wait.h"
#include "controller/core/verdict/cause_rules.h"
#include "controller/core/verdict/error_line.h"
#include "controller/core/verdict/exit_text.h"
#include "controller/core/verdict/first_failure.h"
#include "controller/core/verdict/launcher_exit.h"
#include "controller/core/verdict/loss_guard.h"
#include "controller/core/verdict/repeated_failure.h"
#include "controller/core/verdict/stalled_peer.h"
#include "controller/core/verdict/verdict_facts.h"
#include "proto/contract/exit_code.h"
#include "proto/jobspec/rules/failure_rule.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

bool Is(int code, ExitCode expected) { return code == static_cast<int>(expected); }

// Returns true if the nodes on which the job may run, without the given ones, have enough slots for
// the whole gang. Slots in use count too.
bool FitsElsewhere(const ClusterState& state, const v1::JobSpec& spec, const GangShape& shape,
                   const std::set<std::string>& not_these) {
  return std::ranges::any_of(GroupsOf(state, spec, shape.kind), [&](const NodeGroup& group) {
    const auto fitting = std::ranges::count_if(state.nodes, [&](const auto& item) {
      const auto& [id, entry] = item;
      const bool may_take = entry.node.state() != v1::NODE_STATE_LOST && !entry.node.cordoned();
      return may_take && !not_these.contains(id) && group.Contains(id) &&
             CouldHold(entry.node, shape);
    });
    return fitting >= shape.nodes;
  });
}

// The program could not be started on `node_id`. Returns the reason why the job is not retried on
// another node. Empty if the job is retried. A program that is missing on one node may exist on
// another, but a program that is missing on two nodes is assumed to be missing everywhere.
std::string WhyNoOtherNode(const ClusterState& state, const v1::Job& job,
                           const std::string& node_id) {
  std::set<std::string> nodes = NodesToAvoid(job);
  nodes.insert(node_id);
  std::vector<std::string> others;
  for (const std::string& id : nodes) {
    if (id != node_id) others.push_back(NodeName(state, id));
  }
  if (!others.empty()) {
    return absl::StrCat("; ", absl::StrJoin(others, ", "), " could not start the rank either");
  }
  if (FitsElsewhere(state, job.spec(), GangRequestOf(job.spec()).ToContinue(), nodes)) return "";
  return "; no other node can run the job";
}

// Returns which ranks waited for which other ranks before the gang exited, based on the flight
// records that ranks write when they end. If every failed rank lost a peer, the exit codes do not
// show the cause, but the records may. `observed` may be nullptr.
std::optional<GroupWait> WaitBeforeExits(const AttemptObservation* observed,
                                         const v1::RankExited& culprit, int gang_size) {
  if (observed == nullptr || !ExitedForLostPeer(culprit)) return std::nullopt;
  return FindGroupWait(*observed, gang_size);
}

// Returns true if a worker has not sent a report since its ranks exited. The next report will
// contain the last flight records of these ranks.
bool AwaitsLastRecords(const AttemptObservation* observed) {
  return observed != nullptr &&
         std::ranges::any_of(observed->ranks, [](const auto& rank) { return rank.second.running; });
}

// Returns the exit on which the verdict is based. This is the exit of the rank for which the others
// waited, if there is exactly one such rank and it failed as well. Otherwise returns `first`.
const v1::RankExited& ExitOfCause(const JobEntry& entry, const v1::RankExited& first,
                                  const std::optional<GroupWait>& wait) {
  if (!wait.has_value() || wait->culprits.size() != 1) return first;
  const int place = wait->culprits.front();
  const v1::Attempt& attempt = *NewestAttempt(entry);
  if (place < 0 || place >= GangSize(attempt)) return first;
  const auto exited = entry.exited_ranks.find(MemberAt(attempt, place).rank());
  const bool has_failed = exited != entry.exited_ranks.end() && IsFailure(exited->second);
  return has_failed ? exited->second : first;
}

// Names the attempt's nodes without a recent heartbeat. A lost peer probably ran on such a node.
std::string UnresponsiveNodesText(const ClusterState& state, const Observations& observations,
                                  const v1::Attempt& attempt, Timestamp now) {
  std::string text;
  for (const std::string& node_id : NodesOf(SeatedMembers(attempt))) {
    const int64_t heartbeat_age_ms = now - LastHeartbeat(observations, node_id);
    if (heartbeat_age_ms < kLostPeerWaitMs) continue;
    absl::StrAppend(&text, "; node ", NodeName(state, node_id), " has sent no heartbeat for ",
                    DurationText(heartbeat_age_ms));
  }
  return text;
}

v1::Verdict VerdictOn(const v1::Attempt& attempt, const v1::RankExited& culprit,
                      const std::string& summary) {
  v1::Verdict verdict;
  verdict.set_cause(CauseOf(attempt, culprit));
  if (verdict.cause() == v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED) {
    verdict.set_checkpoint(attempt.resume_from());
  }
  verdict.set_rank(PlaceOf(attempt.ranks(culprit.rank())));
  verdict.set_node_id(attempt.ranks(culprit.rank()).node_id());
  verdict.set_exit_code(culprit.signal() == 0 ? culprit.exit_code() : 0);
  verdict.set_signal(culprit.signal());
  verdict.set_summary(summary);
  verdict.set_log_tail(culprit.log_tail());
  verdict.set_restartable(RulesOf(verdict.cause()).restartable);
  verdict.set_time_ms(ExitTime(culprit));
  return verdict;
}

v1::Verdict BlamelessVerdict(v1::VerdictCause cause, const std::string& summary, Timestamp now) {
  v1::Verdict verdict;
  verdict.set_cause(cause);
  verdict.set_rank(-1);
  verdict.set_summary(summary);
  verdict.set_time_ms(now);
  return verdict;
}

// Copies the error line of the rank's output into the verdict.
void AddErrorLine(v1::Verdict& verdict) {
  verdict.set_error_line(ErrorLine(verdict.log_tail()));
  if (!verdict.error_line().empty()) {
    absl::StrAppend(verdict.mutable_summary(), ": ", verdict.error_line());
  }
}

void AddGroupWait(const GroupWait& wait, v1::Verdict& verdict) {
  verdict.mutable_ranks()->Add(wait.culprits.begin(), wait.culprits.end());
  absl::StrAppend(verdict.mutable_summary(),
                  "; state of the gang before the exits: ", GroupWaitText(wait));
}

// Applies the first rule of restart.rules that matches the last lines of the rank's output. The
// rules were checked at submission.
void ApplyRules(const ClusterState& state, const v1::Job& job, v1::Verdict& verdict) {
  for (const std::string& text : job.spec().restart().rules()) {
    const absl::StatusOr<FailureRule> rule = ParseFailureRule(text);
    if (!rule.ok() || !RE2::PartialMatch(verdict.log_tail(), rule->pattern)) continue;
    std::set<std::string> nodes = NodesToAvoid(job);
    nodes.insert(verdict.node_id());
    const bool stays =
        rule->action == v1::FAILURE_ACTION_OTHER_NODE &&
        !FitsElsewhere(state, job.spec(), GangRequestOf(job.spec()).ToContinue(), nodes);
    verdict.set_action(stays ? v1::FAILURE_ACTION_RETRY : rule->action);
    verdict.set_restartable(rule->action != v1::FAILURE_ACTION_FAIL);
    absl::StrAppend(verdict.mutable_summary(), "; restart.rules chose ", EnumText(rule->action),
                    ", because the output matches `", rule->pattern, "`",
                    stays ? ", but no other node can run the job" : "");
    if (!rule->message.empty()) absl::StrAppend(verdict.mutable_summary(), ": ", rule->message);
    return;
  }
}

// If the rank's device computes wrong results, excludes the rank's node from the job's next
// attempt. Does nothing if the other nodes could not run the job.
void AvoidBrokenDevice(const ClusterState& state, const v1::Job& job, v1::Verdict& verdict) {
  if (!IsDeviceFault(verdict)) return;
  std::set<std::string> nodes = NodesToAvoid(job);
  nodes.insert(verdict.node_id());
  if (!FitsElsewhere(state, job.spec(), GangRequestOf(job.spec()).ToContinue(), nodes)) return;
  verdict.set_action(v1::FAILURE_ACTION_OTHER_NODE);
}

// Returns the number of consecutive attempts, counted back from the newest, that ended with exit
// code 75 ("try again").
int TriesAgainInARow(const v1::Job& job) {
  int tries = 0;
  for (int i = job.attempts_size() - 1; i >= 0; --i, ++tries) {
    const v1::Verdict& verdict = job.attempts(i).verdict();
    const bool is_try_again = verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
                              Is(verdict.exit_code(), ExitCode::kTryAgain);
    if (!is_try_again) break;
  }
  return tries;
}

// Returns true if the loss was not finite in the two newest attempts and no checkpoint was saved
// between them. A third attempt would train the same steps and compute the same numbers.
bool LossFailsAgain(const JobEntry& entry) {
  const int attempts = entry.job.attempts_size();
  const auto not_finite = [&](int index) {
    const v1::Verdict& verdict = entry.job.attempts(index).verdict();
    return verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
           Is(verdict.exit_code(), ExitCode::kNotFinite);
  };
  return attempts >= 2 && not_finite(attempts - 1) && not_finite(attempts - 2) &&
         !PublishedNewerCheckpoint(entry);
}

// Returns the delay before a restart, after `count` restarts without progress. `count` must be at
// least 0.
int64_t BackoffMs(const v1::RestartSpec& rules, int count) {
  const int64_t longest_ms = ToMs(rules.backoff_max());
  int64_t wait_ms = std::min(ToMs(rules.backoff()), longest_ms);
  for (int i = 1; i < count && 0 < wait_ms && wait_ms < longest_ms; ++i) {
    wait_ms = std::min(2 * wait_ms, longest_ms);
  }
  return wait_ms;
}

// Returns true if the program could not be started. Returns false if only the job's storage or a
// rule of the job is to blame.
bool CouldNotStart(const JobEntry& entry, const v1::Verdict& verdict) {
  // A rule of the job asks for a retry.
  if (verdict.action() == v1::FAILURE_ACTION_RETRY) return false;
  const v1::RankPlacement& culprit = MemberAt(*NewestAttempt(entry), verdict.rank());
  const auto exited = entry.exited_ranks.find(culprit.rank());
  return exited == entry.exited_ranks.end() ||
         exited->second.start_fault() != v1::START_FAULT_STORAGE;
}

// Returns true if no part of the attempt ran on the blamed node.
bool NeverRan(const JobEntry& entry, const v1::Verdict& verdict) {
  if (verdict.cause() == v1::VERDICT_CAUSE_SPAWN_FAILED) return CouldNotStart(entry, verdict);
  const v1::Attempt* attempt = NewestAttempt(entry);
  return attempt != nullptr && std::ranges::none_of(entry.started_ranks, [&](int rank) {
           return attempt->ranks(rank).node_id() == verdict.node_id();
         });
}

bool IsUncharged(const JobEntry& entry, const v1::Verdict& verdict) {
  const Charge charge = RulesOf(verdict.cause()).charge;
  return charge == Charge::kNever || (charge == Charge::kIfRan && NeverRan(entry, verdict));
}

// Returns true if the two newest attempts ended because they could not write, and the newest
// attempt published no checkpoint. A third attempt would probably fail to save as well.
bool WouldRepeatWorkInVain(const JobEntry& entry) {
  const int attempts = entry.job.attempts_size();
  if (attempts < 2 || PublishedNewerCheckpoint(entry)) return false;
  const auto could_not_write = [](const v1::Attempt& attempt) {
    return Is(attempt.verdict().exit_code(), ExitCode::kCannotWrite);
  };
  return could_not_write(entry.job.attempts(attempts - 1)) &&
         could_not_write(entry.job.attempts(attempts - 2));
}

// Returns true if the newest attempt ended because it could not write, and a restart would repeat
// steps that no checkpoint contains. A restart would probably fail again, because the program has
// already waited for free space in vain.
bool WouldRepeatUnsavedWork(const JobEntry& entry, const v1::Attempt& newest, int64_t last_step) {
  if (!ProgramRulesOf(entry.job.spec()).saves) return false;
  const int64_t saved = std::max(NextStartingPoint(entry.job).step, newest.resume_step());
  return Is(newest.verdict().exit_code(), ExitCode::kCannotWrite) && last_step > saved;
}

// Returns the reason why another attempt cannot help. Empty if another attempt may help, or if one
// of the job's rules decides.
std::string WhyInVain(const JobEntry& entry, int64_t last_step, Timestamp now) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || newest->verdict().action() != v1::FAILURE_ACTION_UNSPECIFIED) return "";
  if (LossFailsAgain(entry)) {
    return "the loss was not finite twice in a row without a checkpoint in between; to skip the "
           "samples of such steps, set `guard: {policy: skip}`";
  }
  if (WouldRepeatUnsavedWork(entry, *newest, last_step)) {
    return absl::StrCat("steps up to ", last_step,
                        " could not be saved, and a restart would redo them from step ",
                        NextStartingPoint(entry.job).step, "; free disk space in ",
                        entry.job.spec().checkpoint().dir(), ", then submit the job again");
  }
  if (WouldRepeatWorkInVain(entry)) {
    const std::string& directory = entry.job.spec().checkpoint().dir();
    return absl::StrCat(
        "the previous attempt ended the same way, and neither attempt wrote a newer checkpoint; "
        "free disk space in ",
        directory.empty() ? "the output directory" : directory, ", then submit the job again");
  }
  return WhyItWouldRepeat(entry, last_step, now);
}

// Restarts the job from an older checkpoint, without a charge to the restart budget. The number of
// these restarts is limited, because each checkpoint is rejected at most once.
RestartDecision FallBack(const v1::Job& job, const v1::Verdict& verdict, Timestamp now) {
  const StartingPoint older = NextStartingPoint(job);
  if (older.path.empty() || older.path == verdict.checkpoint()) {
    return {.refusal = "no older checkpoint is left to fall back to", .in_vain = true};
  }
  return {.not_before_ms = now + BackoffMs(job.spec().restart(), 1), .uncounted = true};
}

}  // namespace

std::optional<v1::Verdict> JudgeExits(const ClusterState& state, const Observations& observations,
                                      const JobEntry& entry, Timestamp now) {
  const v1::Attempt* attempt = LiveAttempt(entry);
  const v1::RankExited* culprit = attempt == nullptr ? nullptr : FirstFailure(entry, *attempt);
  if (culprit == nullptr) return std::nullopt;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt->number()});
  const bool all_exited = CountSeated(*attempt, entry.exited_ranks) == GangSize(*attempt);
  const bool is_known = all_exited && !AwaitsLastRecords(observed);
  const bool lost_peer = LostPeer(*attempt, *culprit);
  const int64_t wait_ms = ExitedForLostPeer(*culprit) ? kLostPeerWaitMs : kReportedLossWaitMs;
  const bool wait_is_over =
      HasPassed(entry.first_failure_ms, entry.first_failure_ms + wait_ms, now);
  if (lost_peer && !is_known && !wait_is_over) return std::nullopt;
  if (AwaitsLossAlert(entry, *culprit, now)) return std::nullopt;
  const std::optional<GroupWait> wait = WaitBeforeExits(observed, *culprit, GangSize(*attempt));
  culprit = &ExitOfBlamedRank(entry, ExitOfCause(entry, *culprit, wait));
  const v1::RankPlacement& member = attempt->ranks(culprit->rank());
  const std::string& node_id = member.node_id();
  std::string summary = absl::StrCat(RankText(member), " on ", NodeName(state, node_id), " ",
                                     WhatHappened(*attempt, *culprit));
  if (lost_peer) {
    if (!ExitedForLostPeer(*culprit)) summary += " after it lost a peer";
    absl::StrAppend(&summary, UnresponsiveNodesText(state, observations, *attempt, now));
  }
  v1::Verdict verdict = VerdictOn(*attempt, *culprit, summary);
  AddErrorLine(verdict);
  const bool had_stalled =
      lost_peer && observed != nullptr && BlameStalledPeer(state, *observed, entry, verdict);
  if (wait.has_value() && !had_stalled) AddGroupWait(*wait, verdict);
  if (lost_peer && observed != nullptr) AddEarlyExits(*observed, entry, verdict);
  if (IsMissingProgram(verdict) && culprit->start_fault() != v1::START_FAULT_STORAGE) {
    const std::string refusal = WhyNoOtherNode(state, entry.job, node_id);
    verdict.mutable_summary()->append(refusal);
    verdict.set_restartable(refusal.empty());
  }
  AvoidBrokenDevice(state, entry.job, verdict);
  ApplyRules(state, entry.job, verdict);
  return verdict;
}

v1::Verdict NodeLostVerdict(const v1::Node& node, const std::string& evidence, Timestamp now) {
  v1::Verdict verdict =
      BlamelessVerdict(v1::VERDICT_CAUSE_NODE_LOST,
                       absl::StrCat("node ", node.name(), " was lost: ", evidence), now);
  verdict.set_node_id(node.id());
  verdict.set_restartable(RulesOf(verdict.cause()).restartable);
  return verdict;
}

v1::Verdict CompletedVerdict(int ranks, Timestamp now) {
  return BlamelessVerdict(
      v1::VERDICT_CAUSE_COMPLETED,
      ranks == 1 ? "the rank exited with 0" : absl::StrCat("all ", ranks, " ranks exited with 0"),
      now);
}

v1::Verdict StoppedVerdict(bool kill, Timestamp now) {
  return BlamelessVerdict(v1::VERDICT_CAUSE_STOPPED,
                          kill ? "killed by a user" : "stopped by a user", now);
}

RestartDecision DecideRestart(const JobEntry& entry, const v1::Verdict& verdict, int64_t last_step,
                              Timestamp now) {
  if (!verdict.restartable()) return {};
  if (verdict.cause() == v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED) {
    return FallBack(entry.job, verdict, now);
  }
  // No part of the attempt ran on the blamed node, so the restart is not charged to the restart
  // budget. The next attempt is placed on other nodes, or waits until other nodes are available.
  if (IsUncharged(entry, verdict)) return {.not_before_ms = now, .uncounted = true};
  if (const int tries = TriesAgainInARow(entry.job); 0 < tries && tries <= kUncountedTriesInARow) {
    return {.not_before_ms = now + BackoffMs(entry.job.spec().restart(), tries), .uncounted = true};
  }
  if (std::string refusal = WhyInVain(entry, last_step, now); !refusal.empty()) {
    return {.refusal = std::move(refusal), .in_vain = true};
  }
  const v1::RestartSpec& rules = entry.job.spec().restart();
  const Timestamp window_start = now - ToMs(rules.window());
  const auto used = std::ranges::count_if(
      entry.restart_times_ms, [=](Timestamp restart) { return restart > window_start; });
  if (used >= rules.max_restarts()) {
    if (rules.max_restarts() == 0) return {.refusal = "restart.max_restarts is 0"};
    return {.refusal = absl::StrCat("the restart budget is used up: ", used, " restarts within ",
                                    DurationText(ToMs(rules.window())))};
  }
  const int without_progress =
      PublishedNewerCheckpoint(entry) ? 0 : entry.restarts_without_progress + 1;
  return {.not_before_ms = now + BackoffMs(rules, without_progress)};
}

}  // namespace trainyard::controller
