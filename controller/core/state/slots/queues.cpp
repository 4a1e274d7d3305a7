#include "controller/core/state/slots/queues.h"
#include "controller/core/state/slots/class_of_job.h"

#include <algorithm>
#include <iterator>

namespace trainyard::controller {
namespace {

// Returns the slots that the recovering job lacks.
int64_t MissingSlotsOf(const JobClass& job_class, const Reservation& reservation) {
  int64_t missing = int64_t{job_class.nodes} * job_class.slots_per_node;
  for (const auto& [id, slots] : reservation.slots) missing -= std::ssize(slots);
  return std::max<int64_t>(0, missing);
}

}  // namespace

v1::Queue QueueNamed(const ClusterState& state, const std::string& name) {
  const auto found = state.queues.find(name);
  if (found != state.queues.end()) return found->second;
  v1::Queue queue;
  queue.set_name(name);
  return queue;
}

bool QueueExists(const ClusterState& state, const std::string& name) {
  return name == kDefaultQueue || state.queues.contains(name);
}

std::pair<int, int> LevelOf(const ClusterState& state, const v1::Job& job) {
  const auto queue = state.queues.find(QueueOf(job));
  return {queue == state.queues.end() ? 0 : queue->second.tier(), job.priority()};
}

int SharesOf(const v1::Queue& queue) { return std::max(1, queue.shares()); }

v1::SlotQuota QuotaOf(const v1::Queue& queue, v1::DeviceKind kind) {
  for (const v1::SlotQuota& quota : queue.quotas()) {
    if (quota.device() == kind) return quota;
  }
  return {};
}

int64_t HeldSlotsOf(const ClusterState& state, const UsageKey& key) {
  const auto found = state.usages.find(key);
  return found == state.usages.end() ? 0 : found->second.held;
}

std::map<UsageKey, int64_t> MissingSlots(const ClusterState& state) {
  std::map<UsageKey, int64_t> missing;
  for (const auto& [id, reservation] : state.reservations) {
    const JobClass job_class = ClassOf(state.jobs.at(id).job);
    const int64_t slots = MissingSlotsOf(job_class, reservation);
    if (slots == 0) continue;
    missing[{job_class.kind, job_class.queue, ""}] += slots;
    if (!job_class.user.empty())
      missing[{job_class.kind, job_class.queue, job_class.user}] += slots;
  }
  return missing;
}

int64_t ClaimedSlotsOf(const ClusterState& state, const UsageKey& key) {
  const std::map<UsageKey, int64_t> missing = MissingSlots(state);
  const auto found = missing.find(key);
  return HeldSlotsOf(state, key) + (found == missing.end() ? 0 : found->second);
}

int64_t FurtherSlotsOf(const ClusterState& state, const JobClass& job_class) {
  if (state.reservations.contains(job_class.only_job)) return 0;
  return int64_t{job_class.nodes} * job_class.slots_per_node;
}

bool QueueMayTake(const ClusterState& state, const JobClass& job_class) {
  const int limit = QuotaOf(QueueNamed(state, job_class.queue), job_class.kind).max_slots();
  const int64_t claimed = ClaimedSlotsOf(state, {job_class.kind, job_class.queue, ""});
  return limit == 0 || claimed + FurtherSlotsOf(state, job_class) <= limit;
}

bool UserMayTake(const ClusterState& state, const JobClass& job_class) {
  if (job_class.user.empty()) return true;
  const v1::SlotQuota quota = QuotaOf(QueueNamed(state, job_class.queue), job_class.kind);
  const int limit = quota.max_slots_per_user();
  const int64_t claimed = ClaimedSlotsOf(state, {job_class.kind, job_class.queue, job_class.user});
  return limit == 0 || claimed + FurtherSlotsOf(state, job_class) <= limit;
}

bool PrecedesQueue(const ClusterState& state, int64_t job_id) {
  const JobEntry* entry = FindEntry(state, job_id);
  return entry != nullptr && (state.reservations.contains(job_id) || entry->job.preempts());
}

}  // namespace trainyard::controller
