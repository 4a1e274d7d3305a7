#include "controller/core/state/cluster_state.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "controller/core/support/invariant.h"
#include "proto/files/normal_path.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

int CountSlots(const v1::Node& node, v1::DeviceKind kind, bool only_free) {
  int count = 0;
  for (int i = 0; i < node.inventory().slots_size(); ++i) {
    const bool counts = !only_free || node.slot_uses(i).job_id() == 0;
    if (node.inventory().slots(i).kind() == kind && counts) ++count;
  }
  return count;
}

int CountSlots(const NodeEntry& entry, v1::DeviceKind kind, bool only_free) {
  int count = 0;
  for (const SlotHolder& holder : entry.holders) {
    const bool counts = !only_free || holder.attempt.job_id == 0;
    if (holder.kind == kind && counts) count += holder.slots;
  }
  return count;
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

void IndexCheckpointDirectory(const v1::Job& job, ClusterState& state) {
  if (job.spec().checkpoint().dir().empty()) return;
  state.job_by_checkpoint_dir[CheckpointDirectory(job.spec())] = job.id();
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

bool IsDraining(const v1::Node& node) { return node.has_drain() && node.drain().drained_ms() == 0; }

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

int TotalSlots(const v1::Node& node, v1::DeviceKind kind) { return CountSlots(node, kind, false); }

AttemptKey HolderOf(const v1::SlotUse& use) { return {use.job_id(), use.attempt()}; }

int FreeSlots(const v1::Node& node, v1::DeviceKind kind) { return CountSlots(node, kind, true); }

int TotalSlots(const NodeEntry& entry, v1::DeviceKind kind) {
  return CountSlots(entry, kind, false);
}

int FreeSlots(const NodeEntry& entry, v1::DeviceKind kind) { return CountSlots(entry, kind, true); }

const NodeBinding& BindingOf(const ClusterState& state, const std::string& node_id) {
  static const NodeBinding kNone;
  const auto node = state.nodes.find(node_id);
  if (node != state.nodes.end()) return node->second.binding;
  const auto removed = state.removed_nodes.find(node_id);
  return removed == state.removed_nodes.end() ? kNone : removed->second.binding;
}

const v1::Attempt* FindAttempt(const v1::Job& job, int64_t number) {
  // Search backwards, because callers mostly ask for the newest attempt.
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
  Require(HasEnded(job.state()), absl::StrCat("job ", job_id, " is removed but has not ended"));
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

}  // namespace trainyard::controller
