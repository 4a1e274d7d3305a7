#include "tests/simulation/replay/core_policy.h"

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/apply/apply.h"
#include "controller/core/explain/start_forecast.h"
#include "controller/core/explain/usual_run_times.h"
#include "controller/core/schedule/placement_events.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::replay {
namespace {

namespace core = ::trainyard::controller;
using v1::Event;

// The time of the first job, so that no time is 0.
constexpr Timestamp kStartMs = 1'000'000'000'000;

Timestamp TimeOf(int64_t seconds) { return kStartMs + 1000 * seconds; }

std::string NodeId(int number) { return absl::StrFormat("node-%04d", number); }
int NodeNumber(const std::string& id) { return std::stoi(id.substr(5)); }

// The equal parts of nodes that a job gets.
core::GangShape ShapeOf(int gpus, int gpus_per_node) {
  int nodes = (gpus + gpus_per_node - 1) / gpus_per_node;
  while (gpus % nodes != 0) ++nodes;
  return {nodes, gpus / nodes, v1::DEVICE_KIND_GPU};
}

class CorePolicy final : public Policy {
 public:
  CorePolicy(int nodes, int gpus_per_node, StartQuestions* questions, int promised_heads)
      : gpus_per_node_(gpus_per_node), questions_(questions) {
    options_.promised_heads = promised_heads;
    for (int i = 0; i < nodes; ++i) AddNode(NodeId(i));
    if (questions == nullptr) return;
    for (const auto& [number, question] : questions->by_job) {
      open_questions_.insert({question.ask_at, number});
    }
  }

  void Pass(ReplayState& replay) override {
    while (!open_questions_.empty() && open_questions_.begin()->first < replay.now()) {
      Answer(*open_questions_.begin(), replay);
      open_questions_.erase(open_questions_.begin());
    }
    now_ = TimeOf(replay.now());
    EndJobs(replay);
    for (const int number : replay.pending()) {
      if (job_ids_.try_emplace(number, state_.next_job_id).second) Submit(number, replay);
    }
    while (Step(replay)) {
    }
  }

 private:
  void AddNode(const std::string& id) {
    Event event;
    event.set_time_ms(kStartMs);
    v1::Node& node = *event.mutable_node_joined()->mutable_node();
    node.set_id(id);
    node.set_name(id);
    node.set_address(id);
    node.set_state(v1::NODE_STATE_READY);
    for (int i = 0; i < gpus_per_node_; ++i) {
      v1::Slot& slot = *node.mutable_inventory()->add_slots();
      slot.set_index(i);
      slot.set_kind(v1::DEVICE_KIND_GPU);
    }
    Apply(event, state_);
  }

  // Answers a question about a time since the last pass. The state has not changed since then.
  void Answer(const std::pair<int64_t, int>& question, const ReplayState& replay) {
    core::ForecastInput input{.state = core::CopyWithoutHistory(state_),
                              .options = options_,
                              .now = TimeOf(question.first)};
    for (const int64_t id : state_.live_jobs) input.ends[id] = ends_.at(id);
    SetRunTimes(replay, input);
    const core::ForecastedStarts starts = core::ForecastStarts(std::move(input));
    const auto start = starts.find(job_ids_.at(question.second));
    if (start == starts.end()) return;
    questions_->by_job.at(question.second).start = (start->second.time - kStartMs) / 1000;
  }

  void SetRunTimes(const ReplayState& replay, core::ForecastInput& input) const {
    if (questions_->run_times == RunTimes::kLimits) return;
    for (const auto& [id, entry] : state_.jobs) {
      const int number = numbers_.at(id);
      const int64_t limit_ms = 1000 * replay.job(number).limit;
      const auto end = true_ends_.find(id);
      if (questions_->run_times == RunTimes::kUsual) {
        if (limit_ms == 0) continue;
        input.runs[id].ms = usual_.RestMs(limit_ms, core::CountedMs(entry.job, input.now));
      } else if (end != true_ends_.end()) {
        input.runs[id].ms = end->second - input.now;
      } else {
        input.runs[id].ms = 1000 * replay.progress(number).remaining;
      }
    }
  }

  Event NewEvent() const {
    Event event;
    event.set_time_ms(now_);
    return event;
  }

  void Submit(int number, const ReplayState& replay) {
    const TraceJob& job = replay.job(number);
    const core::GangShape shape = ShapeOf(job.gpus, gpus_per_node_);
    Event event = NewEvent();
    v1::JobSubmitted& submitted = *event.mutable_job_submitted();
    submitted.set_job_id(state_.next_job_id);
    submitted.set_user(job.user);
    v1::JobSpec& spec = *submitted.mutable_spec();
    spec.set_name(absl::StrCat("job-", number));
    spec.set_queue(job.queue);
    spec.mutable_resources()->set_nodes(shape.nodes);
    spec.mutable_resources()->set_slots_per_node(shape.slots_per_node);
    spec.mutable_resources()->set_device(shape.kind);
    if (job.limit > 0) spec.mutable_time_limit()->set_seconds(job.limit);
    numbers_[state_.next_job_id] = number;
    Apply(event, state_);
  }

  // Ends the jobs that no longer run in the replay.
  void EndJobs(const ReplayState& replay) {
    const std::set<int64_t> live = state_.live_jobs;
    for (const int64_t id : live) {
      const int number = numbers_.at(id);
      if (replay.running().contains(number)) continue;
      EndAttempt(id, false);
      ForgetEnd(id);
      const int64_t ran_ms = core::CountedMs(state_.jobs.at(id).job, now_);
      usual_.Add(1000 * replay.job(number).limit, ran_ms);
      Event ended = NewEvent();
      ended.mutable_job_ended()->set_job_id(id);
      ended.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
      Apply(ended, state_);
      Event deleted = NewEvent();
      deleted.mutable_job_deleted()->set_job_id(id);
      Apply(deleted, state_);
      numbers_.erase(id);
    }
  }

  void ForgetEnd(int64_t id) {
    ends_.erase(id);
    true_ends_.erase(id);
  }

  void EndAttempt(int64_t id, bool retries) {
    const v1::Attempt attempt = *core::LiveAttempt(state_.jobs.at(id));
    for (const std::string& node : core::GangNodes(attempt)) {
      Event cleared = NewEvent();
      cleared.mutable_attempt_cleared()->set_job_id(id);
      cleared.mutable_attempt_cleared()->set_attempt(attempt.number());
      cleared.mutable_attempt_cleared()->set_node_id(node);
      Apply(cleared, state_);
    }
    Event ended = NewEvent();
    ended.mutable_attempt_ended()->set_job_id(id);
    ended.mutable_attempt_ended()->set_attempt(attempt.number());
    if (retries) ended.mutable_attempt_ended()->set_retry_not_before_ms(now_);
    Apply(ended, state_);
  }

  // Makes one pass. Returns true if something has changed.
  bool Step(ReplayState& replay) {
    core::RendezvousPorts ports(state_, options_);
    const core::Schedule schedule =
        core::MakeSchedule(state_, ports, {}, [&](int64_t id) { return EndOf(id, replay); }, now_,
                           {options_.preemption, options_.promised_heads});
    for (const core::Placement& placement : schedule.placements) Place(placement, replay);
    for (const core::Preemption& preemption : schedule.preemptions) Preempt(preemption, replay);
    return !schedule.placements.empty() || !schedule.preemptions.empty();
  }

  Timestamp EndOf(int64_t id, const ReplayState& replay) const {
    const auto running = replay.running().find(numbers_.at(id));
    const int64_t limit = replay.job(running->first).limit;
    return limit == 0 ? TimeOf(running->second.start) + core::kUnknownRunMs
                      : TimeOf(running->second.latest_end);
  }

  void Place(const core::Placement& placement, ReplayState& replay) {
    for (const Event& event : core::PlacementEvents(state_, {}, placement, now_)) {
      Apply(event, state_);
    }
    Event running = NewEvent();
    running.mutable_attempt_running()->set_job_id(placement.job_id);
    running.mutable_attempt_running()->set_attempt(placement.attempt);
    Apply(running, state_);
    Allocation allocation;
    for (const core::NodeSlots& node : placement.gang) {
      allocation.push_back({NodeNumber(node.node_id), static_cast<int>(node.slots.size())});
    }
    const int number = numbers_.at(placement.job_id);
    replay.Start(number, allocation);
    ends_[placement.job_id] = EndOf(placement.job_id, replay);
    true_ends_[placement.job_id] = TimeOf(replay.running().at(number).end);
  }

  void Preempt(const core::Preemption& preemption, ReplayState& replay) {
    for (const int64_t id : preemption.job_ids) {
      v1::Yield yield;
      yield.set_cause(v1::YIELD_CAUSE_PREEMPTED);
      yield.set_for_job_id(preemption.for_job_id);
      yield.set_reason("preempted");
      const auto event = core::YieldEvent(state_.jobs.at(id), yield, now_);
      if (!event.has_value()) throw std::runtime_error("a preempted job cannot yield");
      Apply(*event, state_);
      replay.Preempt(numbers_.at(id));
      ForgetEnd(id);
      EndAttempt(id, true);
    }
  }

  const int gpus_per_node_;
  core::ClusterState state_;
  core::CoreOptions options_;
  Timestamp now_ = kStartMs;
  std::map<int, int64_t> job_ids_;  // By place in the trace.
  std::map<int64_t, int> numbers_;  // Places in the trace.
  // The ends of running jobs that passes expect, and the true ones.
  std::map<int64_t, Timestamp> ends_, true_ends_;
  core::UsualRunTimes usual_;
  StartQuestions* const questions_;
  std::set<std::pair<int64_t, int>> open_questions_;  // Times and places in the trace.
};

}  // namespace

std::unique_ptr<Policy> MakeCorePolicy(int nodes, int gpus_per_node, StartQuestions* questions,
                                       int promised_heads) {
  return std::make_unique<CorePolicy>(nodes, gpus_per_node, questions, promised_heads);
}

}  // namespace trainyard::replay
