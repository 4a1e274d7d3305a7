#include "controller/core/state/job_class.h"

#include "controller/core/state/gang_request.h"
#include "controller/core/support/durations.h"

namespace trainyard::controller {
namespace {

std::string ParentOf(const std::string& directory) {
  return directory.substr(0, directory.find_last_of('/') + 1);
}

}  // namespace

std::string QueueOf(const v1::Job& job) {
  return job.queue().empty() ? kDefaultQueue : job.queue();
}

JobClass ClassOf(const v1::Job& job) {
  const GangRequest request = GangRequestOf(job.spec());
  const bool is_alone = job.attempts_size() > 0 || request.auto_layout || job.preempts();
  return {.kind = request.kind,
          .queue = QueueOf(job),
          .user = job.user(),
          .priority = job.priority(),
          .nodes = request.max_nodes,
          .slots_per_node = request.slots_per_node,
          .time_limit_ms = ToMs(job.spec().time_limit()),
          .checkpoint_parent = ParentOf(job.spec().checkpoint().dir()),
          .only_job = is_alone ? job.id() : 0};
}

}  // namespace trainyard::controller
