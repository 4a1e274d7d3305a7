// Elastic jobs: jobs that run on any usable number of nodes in a range (`resources.nodes: 2..8`).
//
// The number of data-parallel ranks follows from the number of nodes. All other layout settings,
// the global batch and the order of samples stay the same. A number of nodes is usable if the
// layout and the batch divide among its ranks.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_ELASTIC_SIZE_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_ELASTIC_SIZE_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns the largest usable number of nodes that is at most `most`. Returns 0 if there is none in
// the job's range. With `layout: auto`, every number in the range counts as usable, because the
// controller chooses the layout for each number.
int LargestUsableNodes(const v1::JobSpec& spec, int most);

// Replaces the ends of the range by usable numbers. Changes nothing if no number is usable.
void NarrowNodes(v1::JobSpec& spec);

// Reports a range that cannot be used. Returns nothing for a job without a range.
std::vector<SettingProblem> FindElasticProblems(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_ELASTIC_SIZE_H_
