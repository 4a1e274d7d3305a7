#include "controller/core/state/slots/slot_ledger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/jobs/run_end.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_devices.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/reservations.h"
#include "controller/core/state/slots/slot_rows.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

// The number of slots that each job holds on a node, by kind. A slot of an attempt whose end the
// node has not confirmed is not held: the job cannot use it.
using HeldSlots = std::map<std::pair<int64_t, v1::DeviceKind>, int64_t>;

void CountHeld(const NodeEntry& entry, int64_t sign, HeldSlots& held) {
  for (int i = 0; i < entry.node.slot_uses_size(); ++i) {
    const AttemptKey holder = HolderOf(entry.node.slot_uses(i));
    if (holder.job_id == 0 || entry.uncleared.contains(holder)) continue;
    held[{holder.job_id, entry.node.inventory().slots(i).kind()}] += sign;
  }
}

void NoteHeld(const HeldSlots& changes, ClusterState& state) {
  for (const auto& [key, change] : changes) {
    const JobEntry* entry = change == 0 ? nullptr : FindEntry(state, key.first);
    if (entry == nullptr) continue;
    const UsageKey of_queue{key.second, QueueOf(entry->job), ""};
    state.held_changes[of_queue] += change;
    if (entry->job.user().empty()) continue;
    state.held_changes[{key.second, of_queue.queue, entry->job.user()}] += change;
  }
}

// Returns the time of the newest event. Snapshots of releases without a clock do not have it, and
// the newest placement of a live attempt counts instead.
Timestamp NewestTime(const ClusterState& state) {
  Timestamp newest = state.clock.newest_ms();
  if (newest != 0) return newest;
  for (const auto& [id, run] : state.run_ends) newest = std::max(newest, run.placed_ms);
  return newest;
}

// Sets the held slots of all usages from jobs and nodes. Must follow the rebuild of run_ends.
void RebuildHeld(ClusterState& state) {
  HeldSlots held;
  for (const auto& [id, entry] : state.nodes) CountHeld(entry, 1, held);
  for (auto& [key, usage] : state.usages) usage.held = 0;
  state.held_changes.clear();
  NoteHeld(held, state);
  for (const auto& [key, slots] : state.held_changes) {
    // Snapshots of earlier releases have no usages. Slots that are held then count from now on.
    const auto [usage, is_new] = state.usages.try_emplace(key);
    if (is_new) usage->second.at = NewestTime(state);
    usage->second.held = slots;
  }
  state.held_changes.clear();
}

std::vector<SlotHolder> HoldersOf(const NodeEntry& entry) {
  std::vector<SlotHolder> holders;
  for (int i = 0; i < entry.node.slot_uses_size(); ++i) {
    const AttemptKey attempt = HolderOf(entry.node.slot_uses(i));
    const v1::DeviceKind kind = entry.node.inventory().slots(i).kind();
    const auto known = std::ranges::find_if(holders, [&](const SlotHolder& holder) {
      return holder.attempt == attempt && holder.kind == kind;
    });
    const HostAmount host = HostRequestOf(entry.node.slot_uses(i));
    if (known != holders.end()) {
      ++known->slots;
      known->host = known->host + host;
    } else {
      holders.push_back({attempt, kind, 1, entry.uncleared.contains(attempt), host});
    }
  }
  return holders;
}

bool IsPresent(const v1::Node& node) {
  return node.state() == v1::NODE_STATE_READY || node.state() == v1::NODE_STATE_SUSPECT;
}

void AddToIndexes(NodeEntry& entry, ClusterState& state) {
  entry.holders = HoldersOf(entry);
  entry.free_host = HostOf(entry.node);
  for (const SlotHolder& holder : entry.holders) entry.free_host = entry.free_host - holder.host;
  SetSlotRow(entry, state);
  const v1::Node& node = entry.node;
  if (node.state() == v1::NODE_STATE_LOST) state.lost_nodes.insert(node.id());
  if (IsPresent(node)) state.present_slots += node.inventory().slots_size();
  if (node.has_health()) state.unhealthy_nodes.insert(node.id());
  if (IsDraining(node)) state.draining_nodes.insert(node.id());
  if (node.evidence_size() > 0) state.blamed_nodes.insert(node.id());
  if (!TakesRanks(node)) return;
  for (const v1::DeviceKind kind : kDeviceKinds) {
    const int free = FreeSlots(node, kind);
    if (free > 0) state.free_nodes[kind][free].insert(node.id());
  }
}

void RemoveFromIndexes(const NodeEntry& entry, ClusterState& state) {
  const v1::Node& node = entry.node;
  if (IsPresent(node)) state.present_slots -= node.inventory().slots_size();
  state.lost_nodes.erase(node.id());
  state.unhealthy_nodes.erase(node.id());
  state.draining_nodes.erase(node.id());
  state.blamed_nodes.erase(node.id());
  if (!TakesRanks(node)) return;
  for (const v1::DeviceKind kind : kDeviceKinds) {
    const int free = FreeSlots(node, kind);
    if (free == 0) continue;
    NodesByFreeSlots& by_count = state.free_nodes[kind];
    const auto bucket = by_count.find(free);
    bucket->second.erase(node.id());
    if (bucket->second.empty()) by_count.erase(bucket);
  }
}

// Returns the position of the slot in the inventory, or nullopt if the node has no such slot.
std::optional<int> PositionOf(int slot, const v1::Node& node) {
  for (int i = 0; i < node.inventory().slots_size(); ++i) {
    if (node.inventory().slots(i).index() == slot) return i;
  }
  return std::nullopt;
}

// Frees the slot if it is reserved by a recovering job.
void EndReservation(int position, NodeEntry& entry, ClusterState& state) {
  const Reservation* reservation = FindReservation(state, entry, position);
  if (reservation == nullptr) return;
  const int slot = entry.node.inventory().slots(position).index();
  Unreserve(reservation->attempt.job_id, entry.node.id(), slot, state);
  entry.node.mutable_slot_uses(position)->Clear();
}

// Assigns a slot of the node to a member of a new attempt.
void TakeSlot(const AttemptKey& key, const v1::RankPlacement& member, const HostAmount& host,
              NodeEntry& entry, ClusterState& state) {
  const std::optional<int> position = PositionOf(member.slot(), entry.node);
  if (position.has_value()) EndReservation(*position, entry, state);
  Require(position.has_value() && entry.node.slot_uses(*position).job_id() == 0,
          absl::StrCat("job ", key.job_id, " was placed on a taken slot of ", entry.node.id()));
  v1::SlotUse& use = *entry.node.mutable_slot_uses(*position);
  use.set_job_id(key.job_id);
  use.set_attempt(key.number);
  use.set_rank(member.rank());
  use.set_requested_cpus(static_cast<int32_t>(host.cpus));
  use.set_requested_memory_bytes(host.memory_bytes);
}

bool HoldsSlot(const AttemptKey& key, const v1::Node& node) {
  for (const v1::SlotUse& use : node.slot_uses()) {
    if (HolderOf(use) == key) return true;
  }
  return false;
}

void FreeSlotsOf(const AttemptKey& key, v1::Node& node) {
  for (v1::SlotUse& use : *node.mutable_slot_uses()) {
    if (HolderOf(use) == key) use.Clear();
  }
}

// Returns true if the attempt has ended but its ranks may still run on this node.
bool IsUncleared(const AttemptKey& key, const std::string& node_id, const ClusterState& state) {
  const JobEntry* job = FindEntry(state, key.job_id);
  const v1::Attempt* newest = job == nullptr ? nullptr : NewestAttempt(*job);
  if (newest == nullptr || newest->number() != key.number) return true;
  if (newest->state() != v1::ATTEMPT_STATE_ENDED) return false;
  return !job->cleared_nodes.contains(node_id);
}

void IndexJob(const JobEntry& entry, ClusterState& state) {
  const v1::Job& job = entry.job;
  state.jobs_by_name[job.name()].insert(job.id());
  if (HasEnded(job.state())) state.ended_jobs.insert({job.ended_time_ms(), job.id()});
  if (!entry.request_id.empty()) state.job_by_request_id[entry.request_id] = job.id();
  if (!HasEnded(job.state())) IndexCheckpointDirectory(job, state);
  IndexElement(job, state);
  if (const v1::Attempt* live = LiveAttempt(entry)) {
    state.live_jobs.insert(job.id());
    if (live->stopping_time_ms() != 0) state.stopping_jobs.insert(job.id());
    state.run_ends[job.id()] = RunEndOf(entry);
    state.rendezvous_in_use.insert({live->master_address(), live->master_port()});
    for (const std::string& node_id : GangNodes(*live)) {
      const auto node = state.nodes.find(node_id);
      if (node != state.nodes.end()) node->second.live_jobs.insert(job.id());
    }
  } else if (!HasEnded(job.state())) {
    AddWaiting(job, state);
  }
}

}  // namespace

void EditNode(const std::string& node_id, const std::function<void(NodeEntry&)>& edit,
              ClusterState& state) {
  const auto found = state.nodes.find(node_id);
  Require(found != state.nodes.end(), absl::StrCat("no node ", node_id));
  HeldSlots changes;
  CountHeld(found->second, -1, changes);
  RemoveFromIndexes(found->second, state);
  edit(found->second);
  AddToIndexes(found->second, state);
  CountHeld(found->second, 1, changes);
  NoteHeld(changes, state);
}

void SettleUsages(Timestamp now, ClusterState& state) {
  for (const auto& [key, change] : state.held_changes) {
    if (change == 0) continue;
    Usage& usage = state.usages[key];
    HoldFrom(now, usage.held + change, usage);
  }
  state.held_changes.clear();
  if (state.usages.size() > kMaxUsages) DropUsages(now, kMaxUsages * 9 / 10, state.usages);
}

void TakeSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state) {
  const JobEntry* job = FindEntry(state, job_id);
  const HostAmount host = job == nullptr ? HostAmount{} : GangRequestOf(job->job.spec()).host;
  for (int begin = 0, end = 0; begin < attempt.ranks_size(); begin = end) {
    const std::string& node_id = attempt.ranks(begin).node_id();
    while (end < attempt.ranks_size() && attempt.ranks(end).node_id() == node_id) ++end;
    EditNode(
        node_id,
        [&](NodeEntry& entry) {
          entry.live_jobs.insert(job_id);
          for (int i = begin; i < end; ++i) {
            TakeSlot({job_id, attempt.number()}, attempt.ranks(i), host, entry, state);
          }
        },
        state);
  }
}

void ReleaseSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state) {
  for (const std::string& node_id : GangNodes(attempt)) {
    // A node of a paused job may have been removed in the meantime.
    if (state.nodes.contains(node_id)) ReleaseSlotsOn(job_id, attempt, node_id, state);
  }
}

void ReleaseSlotsOn(int64_t job_id, const v1::Attempt& attempt, const std::string& node_id,
                    ClusterState& state) {
  const AttemptKey key{job_id, attempt.number()};
  EditNode(
      node_id,
      [&](NodeEntry& entry) {
        if (!entry.uncleared.contains(key)) FreeSlotsOf(key, entry.node);
      },
      state);
}

void MarkUncleared(const AttemptKey& key, const std::string& node_id, ClusterState& state) {
  EditNode(
      node_id,
      [&](NodeEntry& entry) {
        if (HoldsSlot(key, entry.node)) entry.uncleared.insert(key);
      },
      state);
}

void MarkCleared(const AttemptKey& key, const std::string& node_id, bool reserved,
                 ClusterState& state) {
  EditNode(
      node_id,
      [&](NodeEntry& entry) {
        if (entry.uncleared.erase(key) == 0) return;
        if (reserved) return ReserveOn(key, entry, state);
        FreeSlotsOf(key, entry.node);
      },
      state);
}

void ReplaceNode(const v1::Node& joined, ClusterState& state) {
  state.nodes[joined.id()].node.set_id(joined.id());
  RemoveDevices(state.nodes.at(joined.id()).node, state);
  EditNode(
      joined.id(),
      [&](NodeEntry& entry) {
        for (int i = 0; i < entry.node.inventory().slots_size(); ++i) {
          const int slot = entry.node.inventory().slots(i).index();
          if (!PositionOf(slot, joined).has_value()) EndReservation(i, entry, state);
        }
        const v1::Node before = std::exchange(entry.node, joined);
        entry.node.set_cordoned(before.cordoned());
        entry.node.set_cordon_reason(before.cordon_reason());
        if (before.has_drain()) *entry.node.mutable_drain() = before.drain();
        if (before.has_health()) *entry.node.mutable_health() = before.health();
        *entry.node.mutable_evidence() = before.evidence();
        entry.node.set_released_time_ms(before.released_time_ms());
        entry.node.clear_slot_uses();
        for (int i = 0; i < joined.inventory().slots_size(); ++i) entry.node.add_slot_uses();
        for (int i = 0; i < before.slot_uses_size(); ++i) {
          const auto position = PositionOf(before.inventory().slots(i).index(), entry.node);
          if (position.has_value()) {
            *entry.node.mutable_slot_uses(*position) = before.slot_uses(i);
          }
        }
        std::erase_if(entry.uncleared,
                      [&](const AttemptKey& key) { return !HoldsSlot(key, entry.node); });
      },
      state);
  AddDevices(joined, state);
}

void RebuildIndexes(ClusterState& state) {
  state.pending_jobs.clear();
  state.pending_classes.clear();
  state.dependent_jobs.clear();
  state.dependents.clear();
  state.unsatisfiable_jobs.clear();
  state.open_arrays.clear();
  state.live_elements.clear();
  state.reservations.clear();
  state.pending_auto_jobs.clear();
  state.paused_jobs.clear();
  state.live_jobs.clear();
  state.stopping_jobs.clear();
  state.run_ends.clear();
  state.slot_rows.clear();
  state.lost_nodes.clear();
  state.unhealthy_nodes.clear();
  state.draining_nodes.clear();
  state.blamed_nodes.clear();
  state.present_slots = 0;
  state.ended_jobs.clear();
  state.jobs_by_name.clear();
  state.job_by_request_id.clear();
  state.job_by_checkpoint_dir.clear();
  state.free_nodes.clear();
  state.nodes_by_device.clear();
  state.rendezvous_in_use.clear();
  for (auto& [id, entry] : state.nodes) {
    entry.live_jobs.clear();
    entry.uncleared.clear();
    for (const v1::SlotUse& use : entry.node.slot_uses()) {
      if (use.job_id() != 0 && IsUncleared(HolderOf(use), id, state)) {
        entry.uncleared.insert(HolderOf(use));
      }
    }
    AddToIndexes(entry, state);
    AddDevices(entry.node, state);
  }
  for (const auto& [id, entry] : state.jobs) IndexJob(entry, state);
  RebuildHeld(state);
  for (const ArchivedRequest& request : state.archived_requests) {
    state.job_by_request_id[request.request_id] = request.job_id;
  }
}

}  // namespace trainyard::controller
