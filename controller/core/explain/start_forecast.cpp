#include "controller/core/explain/start_forecast.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/decide/element_jobs.h"
#include "controller/core/explain/usual_run_times.h"
#include "controller/core/health/node_health.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/placement_events.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/promise_history.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/controller_event.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// Advances a copy of the state from one expected end to the next.
class QueueForecast {
 public:
  QueueForecast(ForecastInput input, const ForecastLimits& limits)
      : state_(std::move(input.state)),
        roots_(std::move(input.roots)),
        options_(std::move(input.options)),
        runs_(std::move(input.runs)),
        limits_(limits),
        begin_(input.now),
        now_(input.now),
        waiting_(state_.dependent_jobs) {
    for (const QueueKey& place : state_.pending_jobs) waiting_.insert(place.job_id);
    for (const auto& [job_id, end] : input.ends) SetEnd(job_id, end, EndBasis::kPredicted);
  }

  ForecastedStarts Make() {
    while (SettlePasses()) {
      const Timestamp next = NextTime();
      // Later starts count as unknown, as promises do.
      if (next == kNever || KnownPromise(next, begin_) == 0) break;
      now_ = next;
      while (!ends_.empty() && ends_.begin()->first <= now_) End(ends_.begin()->second);
    }
    return std::move(starts_);
  }

 private:
  struct LiveJob {
    Timestamp expected = 0;  // The end that passes expect.
    Timestamp end = 0;
    EndBasis basis = EndBasis::kPredicted;
  };

  v1::Event NewEvent() const { return ControllerEvent(now_); }

  // `expected`: the end that passes expect. `basis`: that of the end if the run time is unknown.
  void SetEnd(int64_t job_id, Timestamp expected, EndBasis basis) {
    LiveJob& job = jobs_[job_id];
    job = {expected, expected, basis};
    const auto run = runs_.find(job_id);
    if (run != runs_.end()) {
      job.end = now_ + run->second.ms;
      job.basis = run->second.basis;
    }
    ends_.insert({job.end, job_id});
  }

  void ForgetEnd(int64_t job_id) {
    const auto found = jobs_.find(job_id);
    if (found == jobs_.end()) return;
    ends_.erase({found->second.end, job_id});
    jobs_.erase(found);
  }

  // Makes passes until none changes anything. Returns false if the forecast is over.
  bool SettlePasses() {
    do {
      const bool is_over = limits_.is_over != nullptr && limits_.is_over();
      if (is_over || ++passes_ > limits_.passes || starts_.size() == waiting_.size()) return false;
    } while (ChangesInPass());
    return true;
  }

  bool ChangesInPass() {
    const std::vector<v1::Event> of_arrays = ArrayEventsDue(state_, options_, now_);
    for (const v1::Event& event : of_arrays) Apply(event, state_);
    RendezvousPorts ports(state_, options_);
    const NodeLimits nodes{{}, ClosedNodes(state_, now_), &roots_};
    const Schedule schedule =
        MakeSchedule(state_, ports, nodes, [&](int64_t job_id) { return ExpectedEndOf(job_id); },
                     now_, {options_.preemption, options_.promised_heads});
    for (const Placement& placement : schedule.placements) Start(placement);
    const bool answers = AnswerQuestions(schedule);
    if (!of_arrays.empty() || !schedule.placements.empty() || answers) return true;
    NoteNextPreemption(schedule);
    bool preempts = false;
    for (const Preemption& preemption : schedule.preemptions) {
      for (const int64_t job_id : preemption.job_ids) preempts |= Preempt(job_id, preemption);
    }
    return preempts;
  }

  Timestamp ExpectedEndOf(int64_t job_id) const {
    const auto found = jobs_.find(job_id);
    return found == jobs_.end() ? kNever : std::max(found->second.expected, now_ + 1);
  }

  void Start(const Placement& placement) {
    const JobClass job_class = ClassOf(state_.jobs.at(placement.job_id).job);
    for (const v1::Event& event : PlacementEvents(state_, roots_, placement, now_)) {
      Apply(event, state_);
    }
    if (waiting_.contains(placement.job_id)) {
      starts_.try_emplace(placement.job_id, ForecastedStart{now_, basis_});
    }
    const Timestamp latest = std::min(LatestEnd(job_class, now_), now_ + kUnknownRunMs);
    SetEnd(placement.job_id, latest, EndBasis::kLimit);
  }

  // Assumes that the layout of a job exists.
  bool AnswerQuestions(const Schedule& schedule) {
    for (const LayoutQuestion& question : schedule.layout_questions) {
      v1::Event event = NewEvent();
      v1::LayoutChosen& chosen = *event.mutable_layout_chosen();
      chosen.set_job_id(question.job_id);
      chosen.mutable_layout()->set_asked_nodes(question.shape.nodes);
      chosen.mutable_layout()->set_nodes(question.shape.nodes);
      chosen.mutable_layout()->set_slots_per_node(question.shape.slots_per_node);
      chosen.mutable_layout()->set_device(question.device);
      Apply(event, state_);
    }
    return !schedule.layout_questions.empty();
  }

  // Between two ends, a pass is needed when a head has waited long enough to preempt jobs.
  void NoteNextPreemption(const Schedule& schedule) {
    next_preemption_ = kNever;
    for (const auto& [kind, head] : schedule.heads) {
      const Timestamp since = QueuedSince(state_.jobs.at(head.job_id).job);
      const Timestamp due = since + options_.preemption.wait_ms;
      if (due > now_) next_preemption_ = std::min(next_preemption_, due);
    }
  }

  bool Preempt(int64_t job_id, const Preemption& preemption) {
    const JobEntry& entry = state_.jobs.at(job_id);
    v1::Yield yield;
    yield.set_cause(v1::YIELD_CAUSE_PREEMPTED);
    yield.set_for_job_id(preemption.for_job_id);
    yield.set_reason(PreemptionText(state_, preemption.for_job_id, now_));
    KeepOtherNodes(entry, preemption.nodes, yield);
    const auto event = YieldEvent(entry, yield, now_);
    if (!event.has_value()) return false;
    Apply(*event, state_);
    const auto run = runs_.find(job_id);
    if (run != runs_.end()) run->second.ms = jobs_.at(job_id).end - now_ + RestartCostMs(entry.job);
    ForgetEnd(job_id);
    EndAttempt(job_id, /*returns=*/true);
    return true;
  }

  // Ends the live attempt, and the job unless it returns to the queue or is paused.
  void End(int64_t job_id) {
    basis_ = std::max(basis_, jobs_.at(job_id).basis);
    ForgetEnd(job_id);
    const v1::JobState job_state = state_.jobs.at(job_id).job.state();
    const bool returns =
        job_state == v1::JOB_STATE_RECOVERING || job_state == v1::JOB_STATE_PAUSING;
    EndAttempt(job_id, returns);
    if (returns) return;
    v1::Event ended = NewEvent();
    ended.mutable_job_ended()->set_job_id(job_id);
    ended.mutable_job_ended()->set_state(
        job_state == v1::JOB_STATE_STOPPING ? v1::JOB_STATE_STOPPED : v1::JOB_STATE_SUCCEEDED);
    Apply(ended, state_);
    v1::Event deleted = NewEvent();
    deleted.mutable_job_deleted()->set_job_id(job_id);
    Apply(deleted, state_);
  }

  void EndAttempt(int64_t job_id, bool returns) {
    const JobEntry& entry = state_.jobs.at(job_id);
    const int64_t number = LiveAttempt(entry)->number();
    if (entry.job.state() == v1::JOB_STATE_STARTING) {
      v1::Event running = NewEvent();
      running.mutable_attempt_running()->set_job_id(job_id);
      running.mutable_attempt_running()->set_attempt(number);
      Apply(running, state_);
    }
    for (const std::string& node : GangNodes(*LiveAttempt(entry))) {
      v1::Event cleared = NewEvent();
      cleared.mutable_attempt_cleared()->set_job_id(job_id);
      cleared.mutable_attempt_cleared()->set_attempt(number);
      cleared.mutable_attempt_cleared()->set_node_id(node);
      Apply(cleared, state_);
    }
    v1::Event ended = NewEvent();
    ended.mutable_attempt_ended()->set_job_id(job_id);
    ended.mutable_attempt_ended()->set_attempt(number);
    if (returns) ended.mutable_attempt_ended()->set_retry_not_before_ms(now_);
    ended.mutable_attempt_ended()->set_uncounted(true);
    Apply(ended, state_);
  }

  // Returns the time of the next pass: the next end, the end of a backoff, or the time from which a
  // head may preempt jobs.
  Timestamp NextTime() const {
    Timestamp next = next_preemption_;
    if (!ends_.empty()) next = std::min(next, ends_.begin()->first);
    for (const auto& [job_id, reservation] : state_.reservations) {
      const Timestamp due = state_.jobs.at(job_id).job.not_before_ms();
      if (due > now_) next = std::min(next, due);
    }
    return std::max(next, now_);
  }

  ClusterState state_;
  const RootSightings roots_;
  const CoreOptions options_;
  std::map<int64_t, ForecastedRun> runs_;
  const ForecastLimits& limits_;
  const Timestamp begin_;
  Timestamp now_;
  // The jobs whose starts are asked for.
  std::set<int64_t> waiting_;
  int passes_ = 0;
  std::map<int64_t, LiveJob> jobs_;
  // The ends of jobs_, in order.
  std::set<std::pair<Timestamp, int64_t>> ends_;
  Timestamp next_preemption_ = kNever;
  // The worst basis of the ends so far.
  EndBasis basis_ = EndBasis::kPredicted;
  ForecastedStarts starts_;
};

// Copies the job without the fields that no pass and no event of a forecast reads.
JobEntry CopyOfOpenJob(const JobEntry& entry) {
  JobEntry copy = entry;
  copy.job.clear_deleted_checkpoints();
  copy.job.clear_notes();
  copy.job.clear_environment();
  copy.request_id.clear();
  return copy;
}

// Sets the run times of jobs whose ends are known only from their time limits.
void AddUsualRunTimes(const ClusterView& view, ForecastInput& input) {
  const UsualRunTimes usual = UsualRunTimesOf(view.state);
  for (const auto& [job_id, entry] : input.state.jobs) {
    const std::optional<int64_t> rest_ms = RemainingTime(entry.job, view.now);
    if (!rest_ms.has_value()) continue;
    const auto expected = input.ends.find(job_id);
    // The steps of the job end before its limit.
    if (expected != input.ends.end() && expected->second < view.now + *rest_ms) continue;
    const int64_t usual_ms = usual.RestMs(*TimeLimitMs(entry.job), CountedMs(entry.job, view.now));
    input.runs[job_id] = {usual_ms, usual_ms < *rest_ms ? EndBasis::kUsual : EndBasis::kLimit};
  }
}

}  // namespace

ClusterState CopyWithoutHistory(const ClusterState& state) {
  ClusterState copy;
  copy.next_job_id = state.next_job_id;
  copy.newest_job_id = state.newest_job_id;
  copy.restored_jobs_below = state.restored_jobs_below;
  copy.restored_attempt = state.restored_attempt;
  copy.lost_jobs = state.lost_jobs;
  for (const auto& [job_id, entry] : state.jobs) {
    if (HasEnded(entry.job.state())) continue;
    copy.jobs.emplace_hint(copy.jobs.end(), job_id, CopyOfOpenJob(entry));
    copy.jobs_by_name[entry.job.name()].insert(job_id);
  }
  copy.nodes = state.nodes;
  copy.queues = state.queues;
  copy.usages = state.usages;
  copy.topology = state.topology;
  copy.clock = state.clock;
  copy.pending_jobs = state.pending_jobs;
  copy.pending_classes = state.pending_classes;
  copy.dependent_jobs = state.dependent_jobs;
  copy.dependents = state.dependents;
  copy.unsatisfiable_jobs = state.unsatisfiable_jobs;
  copy.open_arrays = state.open_arrays;
  copy.live_elements = state.live_elements;
  copy.reservations = state.reservations;
  copy.pending_auto_jobs = state.pending_auto_jobs;
  copy.paused_jobs = state.paused_jobs;
  copy.live_jobs = state.live_jobs;
  copy.stopping_jobs = state.stopping_jobs;
  copy.run_ends = state.run_ends;
  copy.lost_nodes = state.lost_nodes;
  copy.unhealthy_nodes = state.unhealthy_nodes;
  copy.draining_nodes = state.draining_nodes;
  copy.blamed_nodes = state.blamed_nodes;
  copy.present_slots = state.present_slots;
  copy.job_by_checkpoint_dir = state.job_by_checkpoint_dir;
  copy.free_nodes = state.free_nodes;
  copy.topology_index = state.topology_index;
  copy.nodes_by_device = state.nodes_by_device;
  copy.slot_rows = state.slot_rows;
  copy.rendezvous_in_use = state.rendezvous_in_use;
  return copy;
}

std::optional<ForecastInput> CopyForForecast(const ClusterView& view) {
  const ClusterState& state = view.state;
  const std::size_t open_jobs = state.jobs.size() - state.ended_jobs.size();
  const bool is_large = open_jobs + state.nodes.size() > kForecastEntries;
  if (is_large || view.schedule.awaits_workers) return std::nullopt;
  ForecastInput input{.state = CopyWithoutHistory(state),
                      .roots = view.observations.roots,
                      .options = view.options,
                      .now = view.now};
  const ExpectedEnds ends = ExpectedEndsOf(state, view.observations, view.now);
  for (const int64_t job_id : state.live_jobs) input.ends[job_id] = ends(job_id);
  AddUsualRunTimes(view, input);
  return input;
}

ForecastedStarts ForecastStarts(ForecastInput input, const ForecastLimits& limits) {
  return QueueForecast(std::move(input), limits).Make();
}

}  // namespace trainyard::controller
