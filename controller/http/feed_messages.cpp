#include "controller/http/feed_messages.h"

#include <algorithm>
#include <utility>

#include "controller/api/cluster/cluster_handlers.h"
#include "controller/api/jobs/job_list.h"
#include "controller/api/jobs/job_view.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/event_log/event_node.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/support/wait.h"
#include "proto/support/job_state.h"

namespace trainyard::controller::http {
namespace {

// If more jobs change in one tick, a snapshot is sent instead of the changes.
constexpr std::size_t kJobsInChange = 400;

void AddJob(const JobEntry& entry, const ClusterView& view, PendingExplainer& explainer,
            v1::JobsChanged& changed) {
  *changed.add_jobs() = ListedJob(entry, view);
  if (auto reason = WaitingReason(entry, view, explainer)) {
    (*changed.mutable_pending())[entry.job.id()] = *std::move(reason);
  }
}

// Returns the number of live jobs whose failed attempt is still being stopped.
int64_t CountRecoveringLiveJobs(const ClusterState& state) {
  return std::ranges::count_if(state.live_jobs, [&](int64_t id) {
    return state.jobs.at(id).job.state() == v1::JOB_STATE_RECOVERING;
  });
}

std::shared_ptr<v1::JobsChanged> NoJobs(const ClusterView& view) {
  const int64_t recovering = CountRecoveringLiveJobs(view.state);
  auto changed = std::make_shared<v1::JobsChanged>();
  changed->set_as_of_ms(view.now);
  changed->set_waiting(static_cast<int64_t>(view.state.pending_jobs.size()) +
                       static_cast<int64_t>(view.state.dependent_jobs.size()) + recovering);
  changed->set_placed(static_cast<int64_t>(view.state.live_jobs.size()) - recovering);
  return changed;
}

// Returns the newest of these jobs, as many as a snapshot has queued jobs.
std::set<int64_t> NewestOf(const std::set<int64_t>& jobs) {
  std::set<int64_t> newest;
  for (auto id = jobs.rbegin(); id != jobs.rend() && newest.size() < kWaitingInSnapshot; ++id) {
    newest.insert(*id);
  }
  return newest;
}

// Returns the jobs in the first snapshot for a page: the newest active jobs, the first queued jobs,
// the newest jobs that wait for other jobs, the newest paused jobs, and the most recently submitted
// ended jobs.
std::set<int64_t> FirstJobs(const ClusterState& state) {
  std::set<int64_t> jobs = NewestLiveJobs(state);
  int waiting = 0;
  for (const QueueKey& place : state.pending_jobs) {
    if (++waiting > kWaitingInSnapshot) break;
    jobs.insert(place.job_id);
  }
  jobs.merge(NewestDependentJobs(state));
  jobs.merge(NewestOf(state.paused_jobs));
  int ended = 0;
  for (auto it = state.jobs.rbegin(); it != state.jobs.rend() && ended < kEndedInSnapshot; ++it) {
    if (!HasEnded(it->second.job.state())) continue;
    jobs.insert(it->first);
    ++ended;
  }
  return jobs;
}

// Returns these jobs, newest first.
std::shared_ptr<v1::JobsChanged> JobsOf(const std::set<int64_t>& jobs, const ClusterView& view) {
  PendingExplainer explainer(view);
  auto changed = NoJobs(view);
  for (auto id = jobs.rbegin(); id != jobs.rend(); ++id) {
    if (const JobEntry* entry = FindEntry(view.state, *id))
      AddJob(*entry, view, explainer, *changed);
  }
  return changed;
}

}  // namespace

void AddNodesOf(const v1::Event& event, const ClusterState& state, std::set<std::string>& nodes) {
  if (std::string node = ChangedNode(event); !node.empty()) {
    nodes.insert(std::move(node));
    return;
  }
  const JobEntry* job = FindEntry(state, JobIdOf(event));
  const bool moves_slots = event.has_job_placed() || event.has_attempt_healing() ||
                           event.has_attempt_ended() || event.has_job_ended();
  if (job == nullptr || !moves_slots || NewestAttempt(*job) == nullptr) return;
  for (const std::string& node : GangNodes(*NewestAttempt(*job))) nodes.insert(node);
}

std::shared_ptr<v1::NodesChanged> NodesOf(const std::set<std::string>* only,
                                          const ClusterView& view) {
  auto changed = std::make_shared<v1::NodesChanged>();
  changed->set_snapshot(only == nullptr);
  changed->set_as_of_ms(view.now);
  for (const auto& [id, entry] : view.state.nodes) {
    if (only == nullptr || only->contains(id)) *changed->add_nodes() = NodeNow(entry, view);
  }
  if (only == nullptr) return changed;
  for (const std::string& id : *only) {
    if (!view.state.nodes.contains(id)) changed->add_removed(id);
  }
  return changed;
}

std::set<int64_t> NewestLiveJobs(const ClusterState& state) {
  std::set<int64_t> jobs;
  for (auto id = state.live_jobs.rbegin(); id != state.live_jobs.rend(); ++id) {
    if (jobs.size() == kPlacedInSnapshot) break;
    jobs.insert(*id);
  }
  return jobs;
}

std::set<int64_t> NewestDependentJobs(const ClusterState& state) {
  return NewestOf(state.dependent_jobs);
}

std::shared_ptr<v1::JobsChanged> JobsSnapshot(const ClusterView& view) {
  auto changed = JobsOf(FirstJobs(view.state), view);
  changed->set_snapshot(true);
  return changed;
}

std::shared_ptr<v1::JobsChanged> JobsOrSnapshot(const std::set<int64_t>& jobs,
                                                const ClusterView& view) {
  return jobs.size() > kJobsInChange ? JobsSnapshot(view) : JobsOf(jobs, view);
}

void AddRemoved(const v1::Event& event, v1::JobsChanged& changed) {
  if (event.has_job_deleted()) changed.add_removed(event.job_deleted().job_id());
}

}  // namespace trainyard::controller::http
