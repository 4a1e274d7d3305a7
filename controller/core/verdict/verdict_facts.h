// Facts about a node contained in a verdict.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_

#include <set>
#include <string>

#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// True if the rank of the verdict found that its device computes wrong results.
bool IsDeviceFault(const v1::Verdict& verdict);

// True if the job's program could not be started on the node, by the worker or by a shell (126,
// 127).
bool IsMissingProgram(const v1::Verdict& verdict);

// Nodes of the newest consecutive attempts that failed in a way that another node may prevent: the
// program could not be started, or a rule of restart.rules says other_node.
std::set<std::string> NodesToAvoid(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
