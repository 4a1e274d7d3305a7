#include "controller/core/reconcile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_removal.h"
#include "controller/core/explain/save_hint.h"
#include "controller/core/health/hang_watch.h"
#include "controller/core/health/node_evidence.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/health/straggler_watch.h"
#include "controller/core/observations/first_step.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/attempt_outcome.h"
#include "controller/core/state/gang.h"
#include "controller/core/state/gang_shape.h"
#include "controller/core/state/job_timing.h"
#include "controller/core/state/rollbacks.h"
#include "controller/core/state/starting_point.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/support/wait.h"
#include "controller/core/verdict/failure_policy.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/utf8.h"

namespace trainyard::controller {
namespace {

// Longer than a verdict waits for the rank that failed first.
constexpr int64_t kLongestJudgementMs = 5000;

bool IsLost(const ClusterState& state, const std::string& node_id) {
  return state.lost_nodes.contains(node_id);
}

// True if no rank of the attempt can still be running, except on nodes that are lost or
// unresponsive, where the attempt number fences ranks. A process that survives SIGKILL is stuck in
// the kernel and will not run again. In both cases the slots stay taken until the worker confirms
// the end.
bool IsCleared(const ClusterState& state, const Observations& observations,
               const UnresponsiveNodes& unresponsive, const JobEntry& entry,
               const v1::Attempt& attempt) {
  const AttemptKey key{entry.job.id(), attempt.number()};
  return std::ranges::all_of(GangNodes(attempt), [&](const std::string& node_id) {
    return entry.cleared_nodes.contains(node_id) || IsLost(state, node_id) ||
           unresponsive.contains(node_id) || !UnkillableOn(observations, node_id, key).empty();
  });
}

// Computes the events due for live attempts.
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
    if (attempt.state() != v1::ATTEMPT_STATE_STOPPING) {
      if (const auto verdict = Judge(entry)) return TakeFailure(entry, attempt, *verdict);
      if (attempt.state() == v1::ATTEMPT_STATE_STARTING) {
        const bool all_started = CountSeated(attempt, entry.started_ranks) == GangSize(attempt);
        if (all_started) return Run(entry, attempt);
        if (const auto hang = FindHang(state_, observations_, options_, entry, now_)) {
          TakeHang(entry, attempt, *hang);
        }
        return;
      }
      if (IsHealing(attempt) && !AllRanksSucceeded(entry)) return WatchHeal(entry, attempt);
      if (const auto hang = FindHang(state_, observations_, options_, entry, now_)) {
        return TakeHang(entry, attempt, *hang);
      }
      std::ranges::move(StragglerEvents(state_, observations_, entry, now_),
                        std::back_inserter(events_));
      if (!AllRanksSucceeded(entry)) return;
    }
    if (HidesFailure(entry, attempt)) {
      if (const auto verdict = JudgeExits(state_, observations_, entry, now_)) {
        return Fail(entry, attempt, *verdict);
      }
      if (!HasPassed(entry.first_failure_ms, entry.first_failure_ms + kLongestJudgementMs, now_)) {
        return;
      }
    }
    if (IsCleared(state_, observations_, unresponsive_, entry, attempt)) End(entry, attempt);
  }

  // True if a rank had failed when a user paused the job, and the failure has not been judged yet.
  static bool HidesFailure(const JobEntry& entry, const v1::Attempt& attempt) {
    return attempt.stop_reason() == v1::STOP_REASON_PAUSED && entry.first_failure_ms != 0 &&
           !attempt.has_verdict();
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

  std::optional<v1::Verdict> Judge(const JobEntry& entry) {
    if (auto verdict = JudgeExits(state_, observations_, entry, now_)) return verdict;
    const auto lost = verdicts_.find(entry.job.id());
    if (lost == verdicts_.end()) return std::nullopt;
    return lost->second;
  }

  // With a spare node the gang continues in place. Otherwise its attempt fails.
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
    // A node whose worker is disconnected during a heal delays the heal, which is no sign of a
    // fault.
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
    // A lost node fails several gangs at once. That is one failure.
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
  }

  void End(const JobEntry& entry, const v1::Attempt& attempt) {
    const bool failed = HasFailed(attempt);
    v1::AttemptEnded& ended = *events_.emplace_back(ControllerEvent(now_)).mutable_attempt_ended();
    ended.set_job_id(entry.job.id());
    ended.set_attempt(attempt.number());
    AddFigures(entry, attempt, ended);
    const RestartDecision restart = RestartOf(entry, attempt, ended.last_step());
    if (restart.not_before_ms.has_value()) {
      ended.set_retry_not_before_ms(*restart.not_before_ms);
      ended.set_uncounted(restart.uncounted);
      if (attempt.stop_reason() == v1::STOP_REASON_PAUSED) ReportUnsaved(entry, ended);
      return;
    }
    v1::JobEnded& job_ended = *events_.emplace_back(ControllerEvent(now_)).mutable_job_ended();
    job_ended.set_job_id(entry.job.id());
    if (failed) {
      job_ended.set_state(v1::JOB_STATE_FAILED);
      *job_ended.mutable_verdict() = attempt.verdict();
      if (!restart.refusal.empty()) {
        job_ended.mutable_verdict()->mutable_summary()->append("; " + restart.refusal);
      }
      if (restart.in_vain) job_ended.mutable_verdict()->set_restartable(false);
    } else if (attempt.stop_reason() == v1::STOP_REASON_USER) {
      job_ended.set_state(v1::JOB_STATE_STOPPED);
      *job_ended.mutable_verdict() = StoppedVerdict(entry.kill_requested, now_);
      const std::string unsaved = UnsavedText(observations_, entry);
      if (!entry.kill_requested) job_ended.mutable_verdict()->mutable_summary()->append(unsaved);
    } else {
      job_ended.set_state(v1::JOB_STATE_SUCCEEDED);
      *job_ended.mutable_verdict() = CompletedVerdict(GangSize(attempt), now_);
    }
  }

  // A pause whose ranks could not save costs the steps since the newest checkpoint.
  void ReportUnsaved(const JobEntry& entry, const v1::AttemptEnded& ended) {
    const std::string unsaved = UnsavedText(observations_, entry);
    if (unsaved.empty()) return;
    const int64_t attempt_number = ended.attempt(), last_step = ended.last_step();
    v1::AlertRaised& alert = *events_.emplace_back(ControllerEvent(now_)).mutable_alert_raised();
    alert.set_job_id(entry.job.id());
    alert.set_attempt(attempt_number);
    alert.set_step(last_step);
    alert.set_code(telemetry::kPausedUnsaved);
    alert.set_message(absl::StrCat("paused", unsaved));
  }

  // A rollback is no fault of the job: it has no backoff, and guard.max_rollbacks bounds it. A
  // pause is no fault either, and the job is not placed until it is resumed.
  RestartDecision RestartOf(const JobEntry& entry, const v1::Attempt& attempt,
                            int64_t last_step) const {
    if (attempt.stop_reason() == v1::STOP_REASON_ROLLED_BACK ||
        attempt.stop_reason() == v1::STOP_REASON_PAUSED) {
      return {.not_before_ms = now_, .uncounted = true};
    }
    if (!HasFailed(attempt)) return {};
    return DecideRestart(entry, attempt.verdict(), last_step, now_);
  }

  // Adds the last step and the time use of the attempt, because observations are not durable.
  void AddFigures(const JobEntry& entry, const v1::Attempt& attempt, v1::AttemptEnded& ended) {
    v1::Attempt merged = attempt;
    MergeObserved(entry.job.id(), observations_, now_, merged);
    ended.set_last_step(merged.last_step());
    if (merged.has_time_use()) *ended.mutable_time_use() = std::move(*merged.mutable_time_use());
  }

  const ClusterState& state_;
  const Observations& observations_;
  const CoreOptions& options_;
  RendezvousPorts& ports_;
  const Timestamp now_;
  const UnresponsiveNodes unresponsive_;
  const std::map<int64_t, v1::Verdict> verdicts_;
  // Nodes blamed by events_.
  std::set<std::string> blamed_;
  std::vector<v1::Event> events_;
};

// A gang and, if the controller chose it, the gang's layout.
struct PlacedGang {
  Gang gang;
  const v1::GrantedLayout* layout = nullptr;
};

// Assigns free slots to the queue.
class QueueWalk {
 public:
  QueueWalk(const ClusterState& state, RendezvousPorts& ports, NodeLimits limits, Timestamp now)
      : state_(state),
        ports_(ports),
        now_(now),
        roots_(limits.roots),
        pass_(state, std::move(limits)) {}

  std::vector<v1::Event> EventsDue() {
    // A recovering job whose slots are all available takes none from another job, so it need not
    // wait.
    for (const int64_t job_id : state_.recovering_jobs) {
      const JobEntry& entry = state_.jobs.at(job_id);
      if (const auto gang = FindAgain(entry)) {
        settled_.insert(job_id);
        Place(entry, *gang);
      }
    }
    WalkQueue();
    // A recovering job may also continue with fewer of its own slots.
    for (const int64_t job_id : state_.recovering_jobs) {
      const JobEntry& entry = state_.jobs.at(job_id);
      if (settled_.contains(job_id) || !IsDue(entry, now_)) continue;
      auto gang = FindFewerSpares(entry, /*with_free=*/false);
      if (!gang.has_value()) gang = FindFewer(entry, /*with_free=*/false);
      // The walk ended at an older job that was paused or held, and that waits for slots reserved
      // by this one. If this job left the free slots to the older one, the two would wait for each
      // other.
      if (!gang.has_value() && waits_at_older_) gang = Find(entry);
      if (gang.has_value()) Place(entry, *gang);
    }
    return std::move(events_);
  }

  // Call after EventsDue. Layout choices that jobs wait for.
  std::vector<LayoutQuestion> TakeQuestions() { return std::move(questions_); }

 private:
  // The head of the queue is never overtaken: the walk ends at the first job that does not fit.
  // Exception: a job without a fitting layout waits for other nodes, and blocks no other job.
  void WalkQueue() {
    for (const int64_t job_id : state_.pending_jobs) {
      if (static_cast<int>(events_.size()) >= kPlacementsPerPlan) return;
      if (settled_.contains(job_id)) continue;
      const JobEntry& entry = state_.jobs.at(job_id);
      settled_.insert(job_id);
      const auto gang = Find(entry);
      if (!gang.has_value() && HasNoLayout(entry)) continue;
      if (gang.has_value() && Place(entry, *gang)) continue;
      waits_at_older_ = !state_.recovering_jobs.contains(job_id);
      return;
    }
  }

  // The job's choice for this shape. If there is none yet, adds a question and returns nullptr.
  const v1::GrantedLayout* ChoiceFor(const JobEntry& entry, const GangShape& shape) {
    LayoutQuestion question{entry.job.id(), shape, DeviceFor(shape)};
    const v1::GrantedLayout* choice = FindChoice(entry, question);
    if (choice == nullptr && !question.device.empty()) questions_.push_back(std::move(question));
    return choice;
  }

  const std::string& DeviceFor(const GangShape& shape) {
    const auto key = std::make_pair(shape.kind, shape.slots_per_node);
    const auto found = devices_.find(key);
    if (found != devices_.end()) return found->second;
    return devices_[key] = DeviceForLayouts(state_, shape);
  }

  std::optional<PlacedGang> FindAgain(const JobEntry& entry) {
    const GangShape shape = ShapeOf(entry.job.spec());
    const bool is_auto = entry.job.spec().auto_layout();
    const v1::GrantedLayout* choice = is_auto ? ChoiceFor(entry, shape) : nullptr;
    if (is_auto && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    auto gang = pass_.PlaceAgain(entry, shape);
    if (!gang.has_value()) return std::nullopt;
    return PlacedGang{*std::move(gang), choice};
  }

  std::optional<PlacedGang> Find(const JobEntry& entry) {
    const bool is_auto = entry.job.spec().auto_layout();
    const v1::GrantedLayout* choice =
        is_auto ? ChoiceFor(entry, ShapeOf(entry.job.spec())) : nullptr;
    if (is_auto && (choice == nullptr || choice->nodes() == 0)) return std::nullopt;
    if (auto gang = pass_.Place(entry)) return PlacedGang{*std::move(gang), choice};
    const bool recovers = state_.recovering_jobs.contains(entry.job.id());
    if (!recovers && !LacksNodesSincePause(entry)) return std::nullopt;
    // Allowed during its backoff, too: a job that needs no other job's slots blocks no other job.
    if (auto fewer = FindFewerSpares(entry, /*with_free=*/true)) return fewer;
    if (!IsDue(entry, now_)) return std::nullopt;
    if (auto fewer = FindFewer(entry, /*with_free=*/true)) return fewer;
    if (!recovers) return std::nullopt;
    auto gang = pass_.PlaceOverReservations(entry);
    if (!gang.has_value()) return std::nullopt;
    return PlacedGang{*std::move(gang), choice};
  }

  // True if the cluster has become too small for a job that has run before.
  bool LacksNodesSincePause(const JobEntry& entry) const {
    return NewestAttempt(entry) != nullptr &&
           !CheckShapeFits(state_, ShapeOf(entry.job.spec())).ok();
  }

  // Gang of a recovering job with as many of its spare nodes as are available: it trains without
  // the others rather than wait.
  std::optional<PlacedGang> FindFewerSpares(const JobEntry& entry, bool with_free) {
    GangShape shape = ShapeOf(entry.job.spec());
    while (--shape.nodes >= entry.job.spec().resources().nodes()) {
      auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
      if (gang.has_value()) return PlacedGang{*std::move(gang), nullptr};
    }
    return std::nullopt;
  }

  // Gang of a recovering job with auto_layout on the remaining nodes.
  std::optional<PlacedGang> FindFewer(const JobEntry& entry, bool with_free) {
    if (!entry.job.spec().auto_layout()) return std::nullopt;
    GangShape shape = ShapeOf(entry.job.spec());
    const int most = shape.nodes;
    shape.nodes = pass_.CountUsable(entry, with_free);
    if (shape.nodes == 0 || shape.nodes == most) return std::nullopt;
    const v1::GrantedLayout* choice = ChoiceFor(entry, shape);
    if (choice == nullptr || choice->nodes() == 0) return std::nullopt;
    shape.nodes = choice->nodes();
    auto gang = with_free ? pass_.Place(entry, shape) : pass_.PlaceAgain(entry, shape);
    if (!gang.has_value()) return std::nullopt;
    return PlacedGang{*std::move(gang), choice};
  }

  // False if no rendezvous port is left. A job in its backoff is not placed, but keeps its slots in
  // this pass.
  bool Place(const JobEntry& entry, const PlacedGang& found) {
    if (!IsDue(entry, now_)) return true;
    const Gang& gang = found.gang;
    const v1::Attempt* before = NewestAttempt(entry);
    const bool restored = entry.job.id() < state_.restored_jobs_below;
    const int64_t attempt_number = std::max(before == nullptr ? 1 : before->number() + 1,
                                            restored ? state_.restored_attempt : 1);
    const std::string& address = state_.nodes.at(gang.front().node_id).node.address();
    const auto port = ports_.Find({entry.job.id(), attempt_number}, 1,
                                  before == nullptr ? 0 : before->master_port(), address);
    if (!port.has_value()) return false;
    v1::JobPlaced& placed = *events_.emplace_back(ControllerEvent(now_)).mutable_job_placed();
    placed.set_job_id(entry.job.id());
    placed.set_attempt(attempt_number);
    for (v1::RankPlacement& rank : RanksOf(gang, entry.job.spec().resources().nodes())) {
      *placed.add_ranks() = std::move(rank);
    }
    placed.set_master_address(address);
    placed.set_master_port(*port);
    const StartingPoint start = NextStartingPoint(entry.job);
    const bool was_paused = entry.job.paused_from_ms() != 0 ||
                            (before != nullptr && before->stop_reason() == v1::STOP_REASON_PAUSED);
    placed.set_resumed(before != nullptr && was_paused);
    placed.set_resume_from(start.path);
    placed.set_resume_step(start.step);
    placed.set_resume_attempt(start.attempt);
    placed.set_skip_samples(SkippedSamples(entry.job));
    const double lr_factor = LearningRateFactor(entry.job);
    if (lr_factor != 1) placed.set_lr_factor(lr_factor);
    if (found.layout != nullptr) *placed.mutable_layout() = *found.layout;
    if (before == nullptr) WarnOfUnsharedRoot(entry, attempt_number);
    return true;
  }

  void WarnOfUnsharedRoot(const JobEntry& entry, int64_t attempt_number) {
    const std::string warning =
        roots_ == nullptr ? "" : RootWarning(state_, entry.job.spec(), *roots_);
    if (warning.empty()) return;
    v1::AlertRaised& alert = *events_.emplace_back(ControllerEvent(now_)).mutable_alert_raised();
    alert.set_job_id(entry.job.id());
    alert.set_attempt(attempt_number);
    alert.set_code(telemetry::kUnsharedRoot);
    alert.set_message(std::string(Utf8Prefix(warning, kMaxAlertBytes)));
  }

  const ClusterState& state_;
  RendezvousPorts& ports_;
  const Timestamp now_;
  const RootSightings* const roots_;
  PlacementPass pass_;
  // Jobs handled in this pass.
  std::set<int64_t> settled_;
  // The walk ended at a job without slots of its own, ahead of recovering ones.
  bool waits_at_older_ = false;
  std::map<std::pair<v1::DeviceKind, int>, std::string> devices_;
  std::vector<LayoutQuestion> questions_;
  std::vector<v1::Event> events_;
};

// Nodes whose state is about to change: by these events, or because no command reaches them. A node
// without a stream will soon be attached again or suspect. A worker without a Welcome may be
// disconnected before it. Neither gets ranks, since it could not receive their start.
std::set<std::string> ChangingNodes(const ClusterState& state, const Observations& observations,
                                    const std::vector<v1::Event>& events) {
  std::set<std::string> ids;
  for (const v1::Event& event : events) {
    if (event.has_node_suspected()) ids.insert(event.node_suspected().node_id());
    if (event.has_node_lost()) ids.insert(event.node_lost().node_id());
    if (event.has_node_removed()) ids.insert(event.node_removed().node_id());
    if (event.has_node_unhealthy()) ids.insert(event.node_unhealthy().node_id());
    if (event.has_node_healthy()) ids.insert(event.node_healthy().node_id());
  }
  if (state.pending_jobs.empty()) return ids;
  // Both maps are sorted by node id.
  auto observed = observations.nodes.begin();
  for (const auto& [id, entry] : state.nodes) {
    while (observed != observations.nodes.end() && observed->first < id) ++observed;
    const bool takes_commands = observed != observations.nodes.end() && observed->first == id &&
                                observed->second.takes_commands;
    if (!takes_commands && entry.node.state() != v1::NODE_STATE_LOST) ids.insert(id);
  }
  return ids;
}

}  // namespace

std::vector<v1::Event> Reconcile(const ClusterState& state, const Observations& observations,
                                 const CoreOptions& options, Timestamp now) {
  std::vector<v1::Event> events = NodeEventsDue(state, observations, options, now);
  std::ranges::move(NodesToForget(state, options, now), std::back_inserter(events));
  std::ranges::move(ReportedHealthDue(state, observations, now), std::back_inserter(events));
  if (events.empty()) {
    // Returned alone, because these events replace a node's health, as later ones may do.
    events = QuarantineEventsDue(state, observations, options, now);
    if (!events.empty()) return events;
  }
  RendezvousPorts ports(state, options);
  std::ranges::move(AttemptWatch(state, observations, options, ports, now).EventsDue(),
                    std::back_inserter(events));
  if (!MayPlace(state, observations, options, now)) return events;
  NodeLimits limits{ChangingNodes(state, observations, events), ClosedNodes(state, now),
                    &observations.roots};
  std::ranges::move(QueueWalk(state, ports, std::move(limits), now).EventsDue(),
                    std::back_inserter(events));
  return events;
}

std::vector<LayoutQuestion> LayoutQuestionsDue(const ClusterState& state,
                                               const CoreOptions& options, Timestamp now) {
  if (state.pending_auto_jobs.empty()) return {};
  RendezvousPorts ports(state, options);
  NodeLimits limits{.changing = {}, .closed = ClosedNodes(state, now), .roots = nullptr};
  QueueWalk walk(state, ports, std::move(limits), now);
  walk.EventsDue();
  return walk.TakeQuestions();
}

}  // namespace trainyard::controller
