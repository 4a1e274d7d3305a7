#include "controller/core/apply/job_relations.h"

#include <set>

namespace trainyard::controller {

void AddRelations(const v1::JobSubmitted& submitted, ClusterState& state) {
  v1::Job& job = EntryOf(submitted.job_id(), state).job;
  job.set_cloned_from(submitted.cloned_from());
  if (submitted.has_resumed_from()) *job.mutable_resumed_from() = submitted.resumed_from();
  for (const int64_t id : std::set{submitted.cloned_from(), submitted.resumed_from().job_id()}) {
    const auto parent = state.jobs.find(id);
    if (parent == state.jobs.end()) continue;
    auto& children = *parent->second.job.mutable_children();
    children.Add(job.id());
    if (children.size() > kChildrenKept) children.erase(children.begin());
  }
}

}  // namespace trainyard::controller
