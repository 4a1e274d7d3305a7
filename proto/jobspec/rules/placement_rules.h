// Rules for the section `placement` of a job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_PLACEMENT_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_PLACEMENT_RULES_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Rejects names and labels that are not valid.
void CheckPlacement(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_PLACEMENT_RULES_H_
