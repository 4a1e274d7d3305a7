#include "controller/core/cluster_state.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "controller/core/failure_policy.h"
#include "controller/core/gang.h"
#include "controller/core/invariant.h"
#include "controller/core/origin_list.h"
#include "controller/core/slot_ledger.h"
#include "proto/contract/normal_path.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// Snapshots of older releases name no lost jobs. Every job was in the state then, so the lost ones
// are the gaps between the numbers.
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

int CountSlots(const v1::Node& node, v1::DeviceKind kind, bool only_free) {
  int count = 0;
  for (int i = 0; i < node.inventory().slots_size(); ++i) {
    const bool counts = !only_free || node.slot_uses(i).job_id() == 0;
    if (node.inventory().slots(i).kind() == kind && counts) ++count;
  }
  return count;
}

void SetBinding(const NodeBinding& binding, v1::NodeSnapshot& node) {
  node.set_node_key(binding.key);
  node.set_secret_hash(binding.secret_hash);
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
  if (entry.job.origins().empty()) return;
  entry.origin_list = PackOrigins(std::move(*entry.job.mutable_origins()));
  entry.job.clear_origins();
}

namespace {

// Snapshots of older releases do not say why an attempt is being stopped.
void NameStopReason(JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  const bool unnamed = live != nullptr && live->state() == v1::ATTEMPT_STATE_STOPPING &&
                       live->stop_reason() == v1::STOP_REASON_UNSPECIFIED;
  if (!unnamed) return;
  entry.job.mutable_attempts()->rbegin()->set_stop_reason(
      live->has_verdict() ? v1::STOP_REASON_FAILED : v1::STOP_REASON_USER);
}

}  // namespace

const v1::Attempt* NewestAttempt(const JobEntry& entry) {
  const int count = entry.job.attempts_size();
  return count == 0 ? nullptr : &entry.job.attempts(count - 1);
}

const v1::Attempt* LiveAttempt(const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  return newest == nullptr || newest->state() == v1::ATTEMPT_STATE_ENDED ? nullptr : newest;
}

std::string CheckpointDirectory(const v1::JobSpec& spec) {
  return NormalPath(spec.checkpoint().dir());
}

const JobEntry* FindEntry(const ClusterState& state, int64_t job_id) {
  const auto found = state.jobs.find(job_id);
  return found == state.jobs.end() ? nullptr : &found->second;
}

JobEntry& EntryOf(int64_t job_id, ClusterState& state) {
  const auto found = state.jobs.find(job_id);
  Require(found != state.jobs.end(), absl::StrCat("no job ", job_id));
  return found->second;
}

bool TakesRanks(const v1::Node& node) {
  return node.state() == v1::NODE_STATE_READY && !node.cordoned();
}

std::vector<std::string> GangNodes(const v1::Attempt& attempt) {
  std::vector<std::string> nodes;
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    if (nodes.empty() || nodes.back() != rank.node_id()) nodes.push_back(rank.node_id());
  }
  return nodes;
}

std::string NodeName(const ClusterState& state, const std::string& node_id) {
  const auto found = state.nodes.find(node_id);
  return found == state.nodes.end() ? node_id : found->second.node.name();
}

bool AllRanksSucceeded(const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || entry.exited_ranks.empty()) return false;
  const auto succeeded = [&](const v1::RankPlacement& member) {
    const auto exited = entry.exited_ranks.find(member.rank());
    return exited != entry.exited_ranks.end() && !IsFailure(exited->second);
  };
  return std::ranges::all_of(newest->ranks(), [&](const v1::RankPlacement& member) {
    return !IsSeated(member) || succeeded(member);
  });
}

bool HasFinished(const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  return live != nullptr && live->state() != v1::ATTEMPT_STATE_STOPPING && AllRanksSucceeded(entry);
}

int TotalSlots(const v1::Node& node, v1::DeviceKind kind) { return CountSlots(node, kind, false); }

AttemptKey HolderOf(const v1::SlotUse& use) { return {use.job_id(), use.attempt()}; }

int FreeSlots(const v1::Node& node, v1::DeviceKind kind) { return CountSlots(node, kind, true); }

int64_t ToMs(const google::protobuf::Duration& duration) {
  return duration.seconds() * 1000 + duration.nanos() / 1000000;
}

const NodeBinding& BindingOf(const ClusterState& state, const std::string& node_id) {
  static const NodeBinding kNone;
  const auto node = state.nodes.find(node_id);
  if (node != state.nodes.end()) return node->second.binding;
  const auto removed = state.removed_nodes.find(node_id);
  return removed == state.removed_nodes.end() ? kNone : removed->second.binding;
}

const v1::Attempt* FindAttempt(const v1::Job& job, int64_t number) {
  // Callers ask most often for the newest attempt.
  for (auto attempt = job.attempts().rbegin(); attempt != job.attempts().rend(); ++attempt) {
    if (attempt->number() == number) return &*attempt;
  }
  return nullptr;
}

bool IsLostToRestore(const ClusterState& state, int64_t job_id) {
  const auto after = state.lost_jobs.upper_bound(job_id);
  return after != state.lost_jobs.begin() && job_id < std::prev(after)->second;
}

const JobEntry* NewestOfName(const ClusterState& state, const std::string& name) {
  const auto found = state.jobs_by_name.find(name);
  return found == state.jobs_by_name.end() ? nullptr : &state.jobs.at(*found->second.rbegin());
}

void RemoveEnded(int64_t job_id, ClusterState& state) {
  const auto found = state.jobs.find(job_id);
  const v1::Job& job = found->second.job;
  Require(HasEnded(job.state()), absl::StrCat("job ", job_id, " leaves but has not ended"));
  state.ended_jobs.erase({job.ended_time_ms(), job_id});
  const auto named = state.jobs_by_name.find(job.name());
  named->second.erase(job_id);
  if (named->second.empty()) state.jobs_by_name.erase(named);
  state.jobs.erase(found);
}

bool IsArchived(const ClusterState& state, int64_t job_id) {
  return 0 < job_id && job_id <= state.newest_job_id && !state.jobs.contains(job_id) &&
         !IsLostToRestore(state, job_id);
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
  RebuildIndexes(state);
  return state;
}

}  // namespace trainyard::controller
