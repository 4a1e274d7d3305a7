// Converts advice to the messages of a response.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_FINDING_MESSAGES_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_FINDING_MESSAGES_H_

#include <vector>

#include "controller/planner/finding.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Appends the findings to the field `findings` of a response.
void AddFindings(const std::vector<planner::Finding>& findings,
                 google::protobuf::RepeatedPtrField<v1::RunFinding>& messages);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_FINDING_MESSAGES_H_
