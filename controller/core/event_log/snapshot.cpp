#include "controller/core/event_log/snapshot.h"

#include <utility>

#include "controller/core/state/jobs/origin_list.h"
#include "controller/core/state/nodes/topology.h"
#include "controller/core/state/slots/slot_ledger.h"

namespace trainyard::controller {
namespace {

// Finds the lost jobs for a snapshot of an older release. Such a snapshot does not list lost jobs,
// but contains every other job, so the gaps between the job ids are the lost jobs.
void FindLostJobs(ClusterState& state) {
  int64_t next = 1;
  for (const auto& [id, entry] : state.jobs) {
    if (id > next && next < state.restored_jobs_below) state.lost_jobs[next] = id;
    next = id + 1;
  }
  if (next < state.restored_jobs_below) state.lost_jobs[next] = state.restored_jobs_below;
}

void TakeArchiveFields(const v1::Snapshot& snapshot, ClusterState& state) {
  state.newest_job_id = snapshot.newest_job_id();
  if (state.newest_job_id == 0 && !state.jobs.empty()) {
    state.newest_job_id = state.jobs.rbegin()->first;
    FindLostJobs(state);
  }
  for (const v1::JobIdRange& range : snapshot.lost_jobs()) {
    state.lost_jobs[range.begin()] = range.end();
  }
  for (const v1::ArchivedRequest& request : snapshot.archived_requests()) {
    state.archived_requests.push_back({request.request_id(), request.job_id(), request.time_ms()});
  }
}

void AddArchiveFields(const ClusterState& state, v1::Snapshot& snapshot) {
  snapshot.set_newest_job_id(state.newest_job_id);
  for (const auto& [begin, end] : state.lost_jobs) {
    v1::JobIdRange& range = *snapshot.add_lost_jobs();
    range.set_begin(begin);
    range.set_end(end);
  }
  for (const ArchivedRequest& request : state.archived_requests) {
    v1::ArchivedRequest& added = *snapshot.add_archived_requests();
    added.set_request_id(request.request_id);
    added.set_job_id(request.job_id);
    added.set_time_ms(request.archived_ms);
  }
}

void AddSettings(const ClusterState& state, v1::Snapshot& snapshot) {
  for (const auto& [name, queue] : state.queues) *snapshot.add_queues() = queue;
  for (const auto& [key, usage] : state.usages) {
    v1::SlotUsage& added = *snapshot.add_usages();
    added.set_device(key.kind);
    added.set_queue(key.queue);
    added.set_user(key.user);
    added.set_slot_ms(usage.slot_ms);
    added.set_at_ms(usage.at);
  }
  for (const auto& [name, reservation] : state.node_reservations) {
    *snapshot.add_node_reservations() = reservation;
  }
  if (!state.topology.groups().empty()) *snapshot.mutable_topology() = state.topology;
}

void TakeSettings(const v1::Snapshot& snapshot, ClusterState& state) {
  ReplaceTopology(snapshot.topology(), state);
  for (const v1::Queue& queue : snapshot.queues()) state.queues[queue.name()] = queue;
  for (const v1::NodeReservation& reservation : snapshot.node_reservations()) {
    state.node_reservations[reservation.name()] = reservation;
  }
  for (const v1::SlotUsage& usage : snapshot.usages()) {
    state.usages[{usage.device(), usage.queue(), usage.user()}] = {usage.slot_ms(), usage.at_ms()};
  }
}

void SetBinding(const NodeBinding& binding, v1::NodeSnapshot& node) {
  node.set_node_key(binding.key);
  node.set_secret_hash(binding.secret_hash);
}

// Derives the stop reason, because snapshots of older releases do not contain it.
void NameStopReason(JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  const bool unnamed = live != nullptr && live->state() == v1::ATTEMPT_STATE_STOPPING &&
                       live->stop_reason() == v1::STOP_REASON_UNSPECIFIED;
  if (!unnamed) return;
  entry.job.mutable_attempts()->rbegin()->set_stop_reason(
      live->has_verdict() ? v1::STOP_REASON_FAILED : v1::STOP_REASON_USER);
}

}  // namespace

v1::JobSnapshot DetailsOf(const JobEntry& entry) {
  v1::JobSnapshot details;
  details.set_job_id(entry.job.id());
  details.set_request_id(entry.request_id);
  details.set_stop_requested(entry.stop_requested);
  details.set_kill_requested(entry.kill_requested);
  details.mutable_restart_times_ms()->Add(entry.restart_times_ms.begin(),
                                          entry.restart_times_ms.end());
  details.set_restarts_without_progress(entry.restarts_without_progress);
  details.mutable_started_ranks()->Add(entry.started_ranks.begin(), entry.started_ranks.end());
  for (const auto& [rank, exited] : entry.exited_ranks) *details.add_exited_ranks() = exited;
  for (const std::string& node_id : entry.cleared_nodes) details.add_cleared_nodes(node_id);
  details.set_first_failure_ms(entry.first_failure_ms);
  details.set_guarded_attempt(entry.guarded.first);
  details.set_guarded_step(entry.guarded.second);
  details.set_watched_attempt(entry.watched.first);
  details.set_watched_step(entry.watched.second);
  details.mutable_slow_ranks()->Add(entry.slow_ranks.begin(), entry.slow_ranks.end());
  details.mutable_layouts()->Add(entry.layouts.begin(), entry.layouts.end());
  details.set_origin_list(entry.origin_list);
  details.mutable_elements()->Add(entry.elements.begin(), entry.elements.end());
  details.mutable_rungs()->Add(entry.rungs.begin(), entry.rungs.end());
  return details;
}

void TakeDetails(const v1::JobSnapshot& details, JobEntry& entry) {
  entry.request_id = details.request_id();
  entry.stop_requested = details.stop_requested();
  entry.kill_requested = details.kill_requested();
  entry.restart_times_ms.assign(details.restart_times_ms().begin(),
                                details.restart_times_ms().end());
  entry.restarts_without_progress = details.restarts_without_progress();
  entry.started_ranks.insert(details.started_ranks().begin(), details.started_ranks().end());
  for (const v1::RankExited& exited : details.exited_ranks()) {
    entry.exited_ranks[exited.rank()] = exited;
  }
  entry.cleared_nodes.insert(details.cleared_nodes().begin(), details.cleared_nodes().end());
  entry.first_failure_ms = details.first_failure_ms();
  entry.guarded = {details.guarded_attempt(), details.guarded_step()};
  entry.watched = {details.watched_attempt(), details.watched_step()};
  entry.slow_ranks.insert(details.slow_ranks().begin(), details.slow_ranks().end());
  entry.layouts.assign(details.layouts().begin(), details.layouts().end());
  entry.origin_list = details.origin_list();
  entry.elements.assign(details.elements().begin(), details.elements().end());
  entry.rungs.assign(details.rungs().begin(), details.rungs().end());
  if (entry.job.origins().empty()) return;
  entry.origin_list = PackOrigins(std::move(*entry.job.mutable_origins()));
  entry.job.clear_origins();
}

JobEntry FromArchived(v1::ArchivedJob archived) {
  JobEntry entry;
  entry.job = std::move(*archived.mutable_job());
  TakeDetails(archived.details(), entry);
  return entry;
}

v1::Snapshot ToSnapshot(ClusterState state, uint64_t last_sequence) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(last_sequence);
  snapshot.set_next_job_id(state.next_job_id);
  snapshot.set_restored_jobs_below(state.restored_jobs_below);
  snapshot.set_restored_attempt(state.restored_attempt);
  AddArchiveFields(state, snapshot);
  for (const v1::HistoryLoss& loss : state.losses) *snapshot.add_losses() = loss;
  for (auto& [id, entry] : state.jobs) {
    *snapshot.add_job_details() = DetailsOf(entry);
    *snapshot.add_jobs() = std::move(entry.job);
  }
  for (const auto& [id, entry] : state.nodes) {
    v1::NodeSnapshot& node = *snapshot.add_nodes();
    *node.mutable_node() = entry.node;
    node.set_fact_sequence(entry.fact_sequence);
    SetBinding(entry.binding, node);
    node.set_place(entry.place);
  }
  for (const auto& [id, removed] : state.removed_nodes) {
    v1::NodeSnapshot& node = *snapshot.add_removed_nodes();
    node.mutable_node()->set_id(id);
    node.set_fact_sequence(removed.fact_sequence);
    SetBinding(removed.binding, node);
    node.set_removed_ms(removed.removed_ms);
  }
  if (state.capacity.since_ms() > 0) *snapshot.mutable_capacity() = state.capacity;
  *snapshot.mutable_clock() = state.clock;
  AddSettings(state, snapshot);
  return snapshot;
}

ClusterState FromSnapshot(v1::Snapshot snapshot) {
  ClusterState state;
  state.next_job_id = snapshot.next_job_id();
  state.restored_jobs_below = snapshot.restored_jobs_below();
  state.restored_attempt = snapshot.restored_attempt();
  for (v1::Job& job : *snapshot.mutable_jobs()) state.jobs[job.id()].job = std::move(job);
  for (const v1::JobSnapshot& details : snapshot.job_details()) {
    JobEntry& entry = state.jobs[details.job_id()];
    TakeDetails(details, entry);
    NameStopReason(entry);
  }
  TakeArchiveFields(snapshot, state);
  for (v1::NodeSnapshot& node : *snapshot.mutable_nodes()) {
    NodeEntry& entry = state.nodes[node.node().id()];
    entry.node = std::move(*node.mutable_node());
    entry.fact_sequence = node.fact_sequence();
    entry.binding = {node.node_key(), node.secret_hash()};
    entry.place = node.place();
  }
  for (const v1::NodeSnapshot& node : snapshot.removed_nodes()) {
    state.removed_nodes[node.node().id()] = {
        node.fact_sequence(), {node.node_key(), node.secret_hash()}, node.removed_ms()};
  }
  state.capacity = std::move(*snapshot.mutable_capacity());
  state.losses.assign(snapshot.losses().begin(), snapshot.losses().end());
  state.clock = std::move(*snapshot.mutable_clock());
  TakeSettings(snapshot, state);
  RebuildIndexes(state);
  return state;
}

}  // namespace trainyard::controller
