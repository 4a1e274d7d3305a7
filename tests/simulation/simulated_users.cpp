#include "tests/simulation/simulated_users.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/event_log/snapshot.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/world/simulated_worker.h"

namespace trainyard::simulation {

// Repeats the request until it succeeds. While its
// disk is full, the controller rejects requests.
void SimulatedUsers::UncordonAll() {
  for (const auto& [id, entry] : controller_.state().nodes) {
    if (entry.node.cordoned()) Cordon(false, id);
  }
}

void SimulatedUsers::Cordon(bool cordoned, const std::string& node_id) {
  controller::CordonNode cordon;
  cordon.request.set_node(node_id);
  cordon.request.set_cordoned(cordoned);
  controller_.Submit(cordon);
}

void SimulatedUsers::CordonAndDrain() {
  const auto any_node = [&] { return absl::StrCat("n", random_.Between(0, options_.nodes - 1)); };
  if (random_.EachSecond(options_.faults.user_cordon, kStepMs)) {
    const std::string node_id = any_node();
    Cordon(random_.Chance(0.5), node_id);
  }
  if (!random_.EachSecond(options_.faults.user_drain, kStepMs)) return;
  const std::string node_id = any_node();
  if (random_.Chance(0.5)) return Cordon(false, node_id);
  controller::CordonNode drain;
  drain.request.set_node(node_id);
  drain.request.set_cordoned(true);
  drain.request.set_drain_after_ms(random_.Between(0, 20'000));
  controller_.Submit(drain);
}

// Pauses no further jobs once the faults have stopped.
void SimulatedUsers::PauseAndResume() {
  if (!faults_stopped_ && submitted_ > 0 && random_.EachSecond(options_.user_pause, kStepMs)) {
    controller::PauseJob pause;
    pause.request.set_job(absl::StrCat(random_.Between(1, submitted_)));
    controller_.Submit(pause);
  }
  std::vector<int64_t> paused;
  for (const auto& [id, entry] : controller_.state().jobs) {
    // A user resumes a job only after all its ranks have ended, including ranks that no worker
    // manages.
    const bool may_resume = entry.job.has_pause() && entry.job.pause().reason().empty();
    if (may_resume && random_.EachSecond(0.1, kStepMs)) paused.push_back(id);
  }
  for (const int64_t id : paused) {
    controller::ResumeJob resume;
    resume.request.set_job(absl::StrCat(id));
    controller_.Submit(resume);
  }
}

// Lets every third job wait for the preceding one, unless that job can no longer succeed.
void SimulatedUsers::AddDependency(v1::JobSpec& spec) {
  if (!options_.dependent_jobs || submitted_ % 3 != 1) return;
  const std::string name = absl::StrCat("job-", submitted_ - 1);
  const controller::JobEntry* before = controller::NewestOfName(controller_.state(), name);
  if (before == nullptr || before->job.has_verdict()) return;
  spec.add_after(name);
}

void SimulatedUsers::AddTimeLimit(v1::JobSpec& spec) {
  if (!options_.time_limits) return;
  spec.mutable_time_limit()->set_seconds(random_.Between(5, 40));
  if (submitted_ % 2 == 0) spec.set_at_time_limit(v1::AT_TIME_LIMIT_REQUEUE);
  if (submitted_ % 3 == 0) {
    spec.set_time_limit_signal("USR1");
    spec.mutable_time_limit_warning()->set_seconds(random_.Between(1, 4));
  }
}

void SimulatedUsers::AddMatrix(v1::JobSpec& spec) {
  if (!options_.arrays || submitted_ % 2 == 1) return;
  (*spec.mutable_matrix())["env.SEED"] = absl::StrCat("1..", random_.Between(1, 6));
  if (random_.Chance(0.5)) spec.set_max_concurrent(random_.Between(1, 3));
  if (!options_.halving || random_.Chance(0.5)) return;
  spec.mutable_halving()->set_metric("loss");
  for (const int step : {8, 16}) spec.mutable_halving()->add_at_step(absl::StrCat(step));
}

void SimulatedUsers::AddRange(v1::JobSpec& spec) {
  if (!options_.elastic_jobs || submitted_ % 4 == 3 || options_.spares > 0) return;
  spec.set_min_nodes(static_cast<int>(random_.Between(1, spec.resources().nodes())));
}

void SimulatedUsers::AddLaunchers(v1::JobSpec& spec) {
  if (!options_.launchers || spec.command().empty() || random_.Chance(0.25)) return;
  const int slots = spec.resources().slots_per_node();
  spec.mutable_launch()->set_processes_per_node(slots % 2 == 0 && random_.Chance(0.3) ? 2 : 1);
}

// The requests of a node of the gang are at most those that an idle node could hold.
void SimulatedUsers::AddHostRequests(v1::JobSpec& spec) {
  if (!options_.host_requests || random_.Chance(0.4)) return;
  constexpr int64_t kPart = kSimulatedMemory / 16;
  v1::ResourcesSpec& resources = *spec.mutable_resources();
  const int slots = resources.slots_per_node();
  resources.set_memory_per_rank(kPart * random_.Between(1, 16 / slots));
  if (random_.Chance(0.5)) {
    resources.set_cpus_per_rank(static_cast<int>(random_.Between(1, kSimulatedCores / slots)));
  }
}

void SimulatedUsers::ExtendLimits() {
  if (!options_.time_limits || faults_stopped_ || submitted_ == 0) return;
  if (!random_.EachSecond(0.05, kStepMs)) return;
  controller::ExtendJob extend;
  extend.request.set_job(absl::StrCat(random_.Between(1, submitted_)));
  extend.request.mutable_by()->set_seconds(random_.Between(1, 20));
  controller_.Submit(extend);
}

// Adds up to two random conditions on random earlier jobs. If one of these jobs has already ended
// without meeting its condition, the controller refuses the submission, and the users submit the
// job with other conditions.
void SimulatedUsers::AddConditions(v1::JobSpec& spec) {
  if (!options_.dependency_graph || submitted_ == 0) return;
  const int64_t conditions = random_.Between(0, 2);
  for (int64_t i = 0; i < conditions; ++i) {
    const std::string name = absl::StrCat("job-", random_.Between(0, submitted_ - 1));
    if (random_.Chance(0.4)) {
      spec.add_after(absl::StrCat(name, ":checkpoint:", random_.Between(0, 6) * 10));
    } else if (random_.Chance(0.2)) {
      spec.add_after(absl::StrCat(name, ":failure"));
    } else {
      spec.add_after(absl::StrCat(name, random_.Chance(0.5) ? "" : ":end"));
    }
  }
}

// Sets a topology of leaves with two nodes of one kind. The controller may die before it commits
// the request, so the request is repeated until the state has the topology.
void SimulatedUsers::SetLeaves() {
  const bool has_leaves = options_.placements || options_.leaves;
  if (!has_leaves || !controller_.state().topology.groups().empty()) return;
  controller::SetTopology set;
  for (int first = 0; first + 2 < options_.nodes; first += first % 2 == 0 ? 1 : 3) {
    v1::TopologyGroup& leaf = *set.request.mutable_topology()->add_groups();
    leaf.set_name(absl::StrCat("leaf", first));
    leaf.set_level("leaf");
    leaf.add_nodes(absl::StrCat("n", first));
    leaf.add_nodes(absl::StrCat("n", first + 2));
  }
  controller_.Submit(set);
}

// There are four nodes of each kind. One of them may die, and one of them may be excluded.
void SimulatedUsers::RestrictNodes(v1::JobSpec& spec) {
  if (!options_.placements) return;
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  spec.mutable_resources()->set_nodes(static_cast<int>(random_.Between(1, 2)));
  v1::PlacementSpec& placement = *spec.mutable_placement();
  if (random_.Chance(0.3)) return placement.set_within("leaf");
  if (random_.Chance(0.3)) {
    (*placement.mutable_labels())["pool"] = random_.Chance(0.5) ? "a" : "b";
  }
  if (random_.Chance(0.5)) {
    placement.add_exclude(absl::StrCat("n", random_.Between(0, options_.nodes - 1)));
  } else if (random_.Chance(0.3) && placement.labels().empty()) {
    spec.mutable_resources()->set_nodes(1);
    (*placement.mutable_labels())["half"] = random_.Chance(0.5) ? "1" : "2";
  }
}

v1::JobSpec SimulatedUsers::NextSpec() {
  const std::string name = absl::StrCat("job-", submitted_);
  const int most_nodes = options_.nodes - options_.spare_nodes - options_.spares;
  const auto between = [&](int least, int most) {
    return static_cast<int>(random_.Between(least, most));
  };
  int slots = between(1, options_.slots_per_node);
  const int nodes = between(1, most_nodes);
  if (options_.spares > 0) {
    slots = between(1, options_.slots_per_node);
    return controller::SparesSpec(name, between(2, most_nodes), slots, options_.spares);
  }
  // No queue gets a limit that is smaller than a job.
  if (options_.contested) slots = std::min(slots, kLargestContestedJob / nodes);
  // Every third job lets the controller choose its layout.
  if (submitted_ % 3 == 2) return controller::AutoSpec(name, nodes, slots);
  if (!options_.contested || submitted_ % 3 == 1) return controller::TestSpec(name, nodes, slots);
  return controller::SparesSpec(name, nodes, slots, /*spares=*/0);
}

void SimulatedUsers::Act() {
  if (faults_stopped_) {
    UncordonAll();
    queues_.DeleteAllReservations();
  }
  SetLeaves();
  if (submitted_ < options_.jobs && random_.EachSecond(0.3, kStepMs)) {
    // If the controller died, it may or may not have committed the last submission. In both cases,
    // repeating the submission with its request id is safe.
    const std::string request_id = absl::StrCat("request-", submitted_);
    if (controller::FindJobByRequestId(controller_.state(), request_id).has_value()) {
      ++submitted_;
      return;
    }
    v1::SubmitJobRequest request;
    *request.mutable_spec() = NextSpec();
    request.mutable_spec()->mutable_guard()->set_policy(v1::GUARD_POLICY_SKIP);
    AddDependency(*request.mutable_spec());
    AddTimeLimit(*request.mutable_spec());
    AddRange(*request.mutable_spec());
    AddLaunchers(*request.mutable_spec());
    AddHostRequests(*request.mutable_spec());
    AddConditions(*request.mutable_spec());
    RestrictNodes(*request.mutable_spec());
    AddMatrix(*request.mutable_spec());
    request.set_request_id(request_id);
    const std::string user =
        options_.contested ? queues_.ChooseFor(*request.mutable_spec()) : std::string("ada");
    controller_.Submit(controller::Checked(request, {user}));
  }
  if (options_.contested) queues_.Act(submitted_);
  if (options_.contested && !faults_stopped_) queues_.ReserveNodes();
  if (random_.EachSecond(options_.user_stop, kStepMs) && submitted_ > 0) {
    controller::StopJob stop;
    stop.request.set_job(absl::StrCat(random_.Between(1, submitted_)));
    stop.request.set_kill(random_.Chance(0.3));
    controller_.Submit(stop);
  }
  PauseAndResume();
  ExtendLimits();
  if (random_.EachSecond(options_.user_delete, kStepMs) && submitted_ > 0) {
    controller::DeleteJob deletion;
    const int64_t job_id = random_.Between(1, submitted_);
    deletion.request.set_job(absl::StrCat(job_id));
    const auto archived = controller_.archive().find(job_id);
    if (archived != controller_.archive().end()) {
      deletion.archived =
          std::make_shared<const controller::JobEntry>(controller::FromArchived(archived->second));
    }
    controller_.Submit(deletion);
  }
  if (!faults_stopped_) CordonAndDrain();
}

}  // namespace trainyard::simulation
