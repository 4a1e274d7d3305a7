#include "controller/core/state/slots/class_of_job.h"

#include <algorithm>
#include <optional>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/support/durations.h"

namespace trainyard::controller {
namespace {

std::string ParentOf(const std::string& directory) {
  return directory.substr(0, directory.find_last_of('/') + 1);
}

// Returns the time for which the next attempt of the job holds its slots at most: the rest of the
// time limit, and the time to save. 0 without a limit.
int64_t LongestHoldMs(const v1::Job& job) {
  constexpr Timestamp kAnyTime = 0;  // The rest of a job without a live attempt does not change.
  const std::optional<int64_t> rest = RemainingTime(job, kAnyTime);
  return rest.has_value() ? std::max<int64_t>(1, *rest + ToMs(job.spec().stop_grace())) : 0;
}

}  // namespace

std::string QueueOf(const v1::Job& job) {
  return job.queue().empty() ? kDefaultQueue : job.queue();
}

JobClass ClassOf(const v1::Job& job) {
  const GangRequest request = GangRequestOf(job.spec());
  const bool is_alone =
      job.attempts_size() > 0 || request.auto_layout || request.elastic || job.preempts();
  return {.kind = request.kind,
          .queue = QueueOf(job),
          .user = job.user(),
          .priority = job.priority(),
          .nodes = request.Least().nodes,
          .slots_per_node = request.slots_per_node,
          .host_per_rank = request.host,
          .longest_hold_ms = LongestHoldMs(job),
          .checkpoint_parent = ParentOf(job.spec().checkpoint().dir()),
          .placement = PlacementKey(job.spec()),
          .array_id = job.array_id(),
          .only_job = is_alone ? job.id() : 0};
}

SlotRequest SlotRequestOf(const JobClass& job_class) {
  return {.kind = job_class.kind,
          .nodes = job_class.nodes,
          .slots_per_node = job_class.slots_per_node,
          .host_per_rank = job_class.host_per_rank,
          .only_job = job_class.only_job,
          .checkpoint_parent = job_class.checkpoint_parent,
          .placement = job_class.placement};
}

}  // namespace trainyard::controller
