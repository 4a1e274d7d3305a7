// The number of ranks of each process that a job's workers start.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_LAUNCH_SHAPE_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_LAUNCH_SHAPE_H_

#include <algorithm>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns 1 by default. With `launch.processes_per_node`, each process is a launcher and starts the
// ranks of its share of the node's slots.
inline int RanksPerProcess(const v1::JobSpec& spec) {
  const int processes = spec.launch().processes_per_node();
  return processes < 1 ? 1 : std::max(1, spec.resources().slots_per_node() / processes);
}

// Returns the first rank of the process that runs `rank`. Files, streams and facts of the process
// have this number.
inline int FirstRankOfProcess(const v1::JobSpec& spec, int rank) {
  return rank - rank % RanksPerProcess(spec);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_LAUNCH_SHAPE_H_
