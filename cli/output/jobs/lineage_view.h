// Shows the ancestors of a job and the jobs that were resumed or cloned from it.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_LINEAGE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_LINEAGE_VIEW_H_

#include <string>

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::cli {

// True if the job was resumed or cloned from another job, or another job from this job.
bool HasRelatives(const v1::Job& job);

// Returns text such as "from job 12, step 4000"; "" if the job was not resumed from another job.
std::string ResumedText(const v1::Job& job);

// Returns text such as "jobs 15, 18"; "" if the job has no children.
std::string ChildrenText(const v1::Job& job);

// Returns the jobs as a tree, one per line, from the oldest ancestor. The requested job is marked.
// Empty unless the lineage has more than two generations.
std::string LineageTree(const v1::GetLineageResponse& lineage);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_LINEAGE_VIEW_H_
