// Facts that a verdict states about its node.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_

#include <set>
#include <string>

#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// True when the rank of the verdict has itself found that its device computes wrong.
bool SaysDeviceFault(const v1::Verdict& verdict);

// True when the verdict says that its node lacks the job's program: the program could not be
// started, or a shell could not (126, 127).
bool SaysNoProgram(const v1::Verdict& verdict);

// Nodes on which the job's newest attempts failed, in a row, in a way that another node may help
// against: they lack its program, or a rule of restart.rules says other_node.
std::set<std::string> NodesToAvoid(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_VERDICT_FACTS_H_
