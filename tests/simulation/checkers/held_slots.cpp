#include "tests/simulation/checkers/held_slots.h"

#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"

namespace trainyard::simulation {

HeldSlots CountHeldSlots(const controller::ClusterState& state, v1::DeviceKind kind) {
  HeldSlots held;
  for (const auto& [id, node] : state.nodes) {
    for (int i = 0; i < node.node.slot_uses_size(); ++i) {
      const AttemptKey holder = controller::HolderOf(node.node.slot_uses(i));
      const controller::JobEntry* entry = FindEntry(state, holder.job_id);
      const bool counts = entry != nullptr && !node.uncleared.contains(holder) &&
                          node.node.inventory().slots(i).kind() == kind;
      if (!counts) continue;
      ++held[{controller::QueueOf(entry->job), ""}];
      if (!entry->job.user().empty()) {
        ++held[{controller::QueueOf(entry->job), entry->job.user()}];
      }
    }
  }
  return held;
}

bool MayHoldOneMore(const controller::ClusterState& state, const HeldSlots& held,
                    const controller::JobClass& job_class) {
  const v1::SlotQuota quota =
      controller::QuotaOf(controller::QueueNamed(state, job_class.queue), job_class.kind);
  const auto fits = [&](const std::string& user, int64_t limit) {
    const auto found = held.find({job_class.queue, user});
    const int64_t slots = int64_t{job_class.nodes} * job_class.slots_per_node;
    return limit == 0 || (found == held.end() ? 0 : found->second) + slots <= limit;
  };
  return fits("", quota.max_slots()) &&
         (job_class.user.empty() || fits(job_class.user, quota.max_slots_per_user()));
}

}  // namespace trainyard::simulation
