// The lineage of a job: the jobs that the job was resumed or cloned from, and the jobs that were
// resumed or cloned from this job.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_LINEAGE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_LINEAGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// The part of a job that a lineage needs.
struct LineageNode {
  int64_t job_id = 0;
  std::string name;
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  v1::CheckpointOrigin resumed_from;
  int64_t cloned_from = 0;
  std::vector<int64_t> children;
};

LineageNode NodeOf(const v1::Job& job);

// The related jobs of the state, copied so that another thread can read them.
struct RelatedJobs {
  // Jobs with a parent or a child.
  std::map<int64_t, LineageNode> nodes;
  // Children of jobs that are not in the state. An archived job lists only the children that were
  // submitted before it was archived.
  std::map<int64_t, std::vector<int64_t>> children_of_archived;
};

RelatedJobs RelatedJobsOf(const ClusterState& state);

// Finds an archived job; nullopt if there is none.
using FindArchivedNode = std::function<std::optional<LineageNode>(int64_t job_id)>;

// Calls `archived` at most once for each job in the answer and once for each deleted job found.
v1::GetLineageResponse LineageOf(const LineageNode& job, const RelatedJobs& related,
                                 const FindArchivedNode& archived);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_LINEAGE_H_
