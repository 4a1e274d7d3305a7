// Derives facts about a node from a verdict.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_

#include <set>
#include <string>

#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if the failed rank exited because it detected that its device computes wrong
// results.
bool IsDeviceFault(const v1::Verdict& verdict);

// Returns true if the job's program could not be started on the node. Either the worker or a shell
// (exit code 126 or 127) reports this.
bool IsMissingProgram(const v1::Verdict& verdict);

// Returns the nodes that the job's next attempt must avoid. These are the nodes of the newest
// consecutive attempts that could not start the program, or for which one of restart.rules says
// other_node.
std::set<std::string> NodesToAvoid(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
