#include "tests/simulation/long_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/observe.h"

namespace trainyard::simulation {
namespace {

using controller::IsSeated;
using controller::IsStandby;
using controller::MemberAt;

constexpr double kDayMs = 86'400'000;

// "The Llama 3 Herd of Models" (2024), section 3.3.4, reports 419 unexpected interruptions in 54
// days on 16,384 GPUs.
constexpr double kFailuresPerGpuDay = 419.0 / (54 * 16'384);

double Exponential(double mean, Random& random) {
  const double part = static_cast<double>(random.Between(1, 1'000'000'000)) / 1e9;
  return -std::log(part) * mean;
}

v1::JobSpec SpecOf(const LongRun& run, int spares) {
  v1::JobSpec spec =
      controller::SparesSpec("llama", run.job_nodes, kSlotsPerNode, /*spares=*/spares);
  spec.mutable_restart()->set_max_restarts(100'000);
  spec.mutable_train()->set_global_batch(run.job_nodes * kSlotsPerNode);
  spec.mutable_train()->set_steps(100'000'000);
  return spec;
}

}  // namespace

std::vector<FailureAt> DrawFailures(const LongRun& run, uint64_t seed) {
  Random random(seed);
  const double rate_per_ms =
      kFailuresPerGpuDay * run.failure_factor * run.nodes * kSlotsPerNode / kDayMs;
  std::vector<FailureAt> failures;
  for (double at = 0;;) {
    at += Exponential(1 / rate_per_ms, random);
    if (at >= run.days * kDayMs) return failures;
    const double draw = static_cast<double>(random.Between(0, 999'999)) / 1e6;
    FailureAt& failure = failures.emplace_back();
    failure.after_ms = static_cast<int64_t>(at);
    failure.kind = draw < run.device_part                   ? Failure::kDevice
                   : draw < run.device_part + run.lost_part ? Failure::kLost
                                                            : Failure::kSoftware;
    failure.place = static_cast<int>(random.Between(0, run.nodes - 1));
  }
}

LongRunSimulation::LongRunSimulation(const LongRun& run, bool in_place) : run_(run) {
  for (int i = 0; i < run.nodes; ++i) {
    cluster_.AddNode(absl::StrCat("n", 10'000 + i), kSlotsPerNode);
  }
  begin_ = cluster_.now;
  job_ = cluster_.Submit(SpecOf(run, in_place ? run.nodes - run.job_nodes : 0));
  Pass(500);
  StartAttempt();
}

void LongRunSimulation::Play(const std::vector<FailureAt>& failures) {
  const Timestamp end = begin_ + static_cast<Timestamp>(run_.days * kDayMs);
  for (const FailureAt& failure : failures) {
    WaitUntil(std::max(cluster_.now, begin_ + failure.after_ms));
    if (cluster_.now >= end) break;
    if (IsTraining()) Strike(failure);
    if (testing::Test::HasFailure()) return;
  }
  WaitUntil(std::max(end, cluster_.now));
}

bool LongRunSimulation::IsTraining() const {
  return cluster_.StateOf(job_) == v1::JOB_STATE_RUNNING && train_begin_ > 0;
}

std::vector<std::string> LongRunSimulation::Members() const {
  std::vector<std::string> nodes = controller::NodesOf(controller::SeatedMembers(Attempt()));
  const std::vector<std::string> spares = controller::SpareNodes(Attempt());
  nodes.insert(nodes.end(), spares.begin(), spares.end());
  return nodes;
}

int64_t LongRunSimulation::StepNow() const {
  return first_step_ + (cluster_.now - train_begin_) / run_.step_ms;
}

void LongRunSimulation::ReportNode(const std::string& node,
                                   const std::vector<const v1::RankPlacement*>& members,
                                   int64_t step) {
  v1::AttemptReport& report = cluster_.Report(node, job_);
  report.clear_ranks();
  for (const v1::RankPlacement* member : members) {
    v1::RankReport& rank = *report.add_ranks();
    rank.set_rank(member->rank());
    rank.set_running(true);
    rank.set_phase(IsSeated(*member) ? "train" : "standby");
    if (!IsSeated(*member)) continue;
    rank.set_step(step);
    rank.set_ordered_generation(controller::GenerationOf(Attempt()));
    v1::RankRecord& newest = *rank.mutable_newest();
    newest.set_step(step);
    newest.set_generation(generation_);
    newest.set_init_seconds(static_cast<double>(run_.init_ms) / 1e3);
    newest.set_load_seconds(static_cast<double>(run_.load_ms) / 1e3);
  }
}

// Makes all ranks report the steps that they have completed by now.
void LongRunSimulation::ReportSteps() {
  if (!IsTraining()) return;
  std::map<std::string, std::vector<const v1::RankPlacement*>> nodes;
  for (const v1::RankPlacement& member : Attempt().ranks()) {
    const bool waits =
        IsStandby(member) && !cluster_.state.jobs.at(job_).exited_ranks.contains(member.rank());
    if (IsSeated(member) || waits) nodes[member.node_id()].push_back(&member);
  }
  const int64_t step = StepNow();
  for (const auto& [node, members] : nodes) ReportNode(node, members, step);
  cluster_.Step(job_, MemberAt(Attempt(), 0).rank(), step, static_cast<double>(run_.step_ms) / 1e3);
}

void LongRunSimulation::Count(const std::vector<v1::Event>& events) {
  for (const v1::Event& event : events) {
    const v1::NodeQuarantine& quarantine = event.node_unhealthy().health().quarantine();
    quarantines_ += event.has_node_unhealthy() && quarantine.since_ms() == event.time_ms();
  }
}

void LongRunSimulation::Pass(int64_t ms, int64_t step_ms) { Count(cluster_.Pass(ms, step_ms)); }

// Advances the clock to `time`, when the next events are due. Earlier heartbeats are not simulated,
// because they would not change anything.
void LongRunSimulation::JumpTo(Timestamp time) {
  if (time <= cluster_.now) return;
  cluster_.now = std::max(cluster_.now, time - 500);
  ReportSteps();
  Pass(500);
}

void LongRunSimulation::WaitUntil(Timestamp time) {
  while (!repairs_.empty() && repairs_.begin()->first <= time) {
    JumpTo(repairs_.begin()->first);
    Repair(repairs_.begin()->second);
    repairs_.erase(repairs_.begin());
    Resume();
  }
  JumpTo(time);
}

void LongRunSimulation::StartAttempt() {
  train_begin_ = 0;
  Pass(run_.spawn_ms, 1'000);
  cluster_.StartAll(job_);
  JumpTo(cluster_.now + run_.init_ms + run_.load_ms);
  generation_ = 1;
  first_step_ = Attempt().resume_step();
  train_begin_ = cluster_.now;
  // Sends the rank's first reports, from which the controller learns the first step.
  for (const int i : {1, 2}) cluster_.Step(job_, 0, first_step_ + i, 4);
  ReportSteps();
  Pass(500);
}

// Starts the placed attempt. If no attempt is placed, the job waits for a repair.
void LongRunSimulation::Resume() {
  if (cluster_.StateOf(job_) == v1::JOB_STATE_STARTING) StartAttempt();
}

// Publishes only the newest checkpoint since the start of the attempt, because a restart uses no
// older checkpoint.
void LongRunSimulation::PublishNewest() {
  const int64_t step = StepNow() / run_.checkpoint_steps * run_.checkpoint_steps;
  if (step > Attempt().resume_step()) cluster_.Publish(job_, step);
}

void LongRunSimulation::Strike(const FailureAt& failure) {
  const std::vector<std::string> members = Members();
  const auto place = static_cast<std::size_t>(failure.place);
  if (place >= members.size()) return;  // The node is under repair or idle.
  const std::string& node = members[place];
  if (failure.place >= run_.job_nodes) return StrikeSpare(node, failure.kind);
  ++failures_[failure.kind];
  PublishNewest();
  if (failure.kind == Failure::kLost) {
    LoseNode(node);
  } else {
    const bool is_device = failure.kind == Failure::kDevice;
    FailRank(MemberAt(Attempt(), kSlotsPerNode * failure.place).rank(), is_device ? node : "");
  }
  if (IsHealing()) return FinishHeal(node, failure.kind);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING) << Job().DebugString();
  Restart(node, failure.kind);
}

// Lets a spare node fail. The gang is not affected, but the node can no longer be used as a spare.
void LongRunSimulation::StrikeSpare(const std::string& node, Failure kind) {
  ++spare_failures_;
  if (kind == Failure::kLost) return TakeAway(node);
  const auto member = std::ranges::find(Attempt().ranks(), node, &v1::RankPlacement::node_id);
  FailRank(member->rank(), kind == Failure::kDevice ? node : "");
  if (kind == Failure::kDevice) TakeAway(node);
  ASSERT_FALSE(IsHealing());
}

void LongRunSimulation::LoseNode(const std::string& node) {
  for (int i = 0; i < 8; ++i) {  // Gives the controller a history of steady progress.
    Pass(run_.step_ms, 2'000);
    ReportSteps();
  }
  cluster_.StopHeartbeats(node);
  const auto is_found = [&] {
    return IsHealing() || cluster_.StateOf(job_) != v1::JOB_STATE_RUNNING;
  };
  for (int i = 0; i < 120 && !is_found(); ++i) Pass(500);
}

// Fails a rank. `broken_node` is the node whose kernel log reports a device error; "" for a
// software bug.
void LongRunSimulation::FailRank(int member, const std::string& broken_node) {
  ReportSteps();
  Pass(500);
  if (!broken_node.empty()) {
    v1::Heartbeat heartbeat;
    *heartbeat.add_attempts() = cluster_.Report(broken_node, job_);
    v1::DeviceError& error = *heartbeat.mutable_condition()->add_device_errors();
    error.set_time_ms(cluster_.now);
    error.set_xid(79);
    error.set_device("0000:3b:00");
    ObserveHeartbeat(broken_node, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  }
  v1::RankExited exited;
  exited.set_rank(member);
  exited.set_exit_code(1);
  exited.set_time_ms(cluster_.now);
  cluster_.Exit(job_, exited);
  Count(cluster_.Settle());
}

// Lets the gang complete a step. The step in progress and the newest completed step are lost.
void LongRunSimulation::FinishHeal(const std::string& node, Failure kind) {
  const v1::Heal& heal = *Attempt().heals().rbegin();
  const int64_t lost_from = heal.step();
  train_begin_ = 0;
  if (kind != Failure::kLost) EndMembersOn(node);
  if (kind != Failure::kSoftware) TakeAway(node);
  Pass(run_.heal_ms, 1'000);
  ASSERT_TRUE(IsHealing()) << "a heal of " << run_.heal_ms << " ms is given up";
  generation_ = controller::GenerationOf(Attempt());
  first_step_ = lost_from;
  train_begin_ = cluster_.now;
  ReportSteps();
  Pass(500);
  ASSERT_FALSE(IsHealing());
  ++heals_;
}

void LongRunSimulation::Restart(const std::string& node, Failure kind) {
  train_begin_ = 0;
  Pass(3'000);  // The grace period after a member is lost.
  const v1::Attempt ended = Attempt();
  for (const std::string& member : controller::GangNodes(ended)) {
    const bool is_away = left_with_.contains(member) || (kind == Failure::kLost && member == node);
    const bool is_cleared = cluster_.state.jobs.at(job_).cleared_nodes.contains(member);
    if (!is_away && !is_cleared) EndMembersOn(member);
  }
  if (kind != Failure::kSoftware) TakeAway(node);
  for (int i = 0; i < 60 && cluster_.StateOf(job_) == v1::JOB_STATE_RECOVERING; ++i) Pass(500);
  if (cluster_.StateOf(job_) == v1::JOB_STATE_RECOVERING) ++waits_for_repair_;
  Resume();
}

// Makes the node report that no process of the job is running there any more.
void LongRunSimulation::EndMembersOn(const std::string& node) {
  std::vector<int> running;
  for (const v1::RankPlacement& member : Attempt().ranks()) {
    const bool is_here = member.node_id() == node;
    const auto& exited = cluster_.state.jobs.at(job_).exited_ranks;
    if (is_here && !exited.contains(member.rank())) running.push_back(member.rank());
  }
  for (const int member : running) cluster_.ExitRank(job_, member, 69);
  cluster_.ClearNode(job_, node);
  cluster_.ForgetReport(node, job_);
}

void LongRunSimulation::TakeAway(const std::string& node) {
  failed_nodes_.insert(node);
  left_with_[node] = Attempt().number();
  cluster_.StopHeartbeats(node);
  cluster_.ForgetReport(node, job_);
  const double repair_ms = Exponential(run_.repair_hours * 3'600'000, random_);
  repairs_.emplace(cluster_.now + static_cast<Timestamp>(repair_ms), node);
}

void LongRunSimulation::Repair(const std::string& node) {
  const int64_t attempt = left_with_.at(node);
  left_with_.erase(node);
  cluster_.Wake(node);
  v1::Hello hello = cluster_.HelloOf(node);
  hello.set_incarnation(absl::StrCat(cluster_.now));
  cluster_.Do(controller::AttachWorker{hello});
  ObserveAttached(hello, cluster_.now, cluster_.state, cluster_.observations);
  ObserveWelcomed(node, cluster_.observations);
  v1::Fact cleared;
  cleared.mutable_attempt_cleared()->set_job_id(job_);
  cleared.mutable_attempt_cleared()->set_attempt(attempt);
  cluster_.SendFact(node, cleared);
  v1::ReleaseNodeRequest release;
  release.set_node(node);
  cluster_.Do(controller::ReleaseNode{release});
  Pass(500);
}

}  // namespace trainyard::simulation
