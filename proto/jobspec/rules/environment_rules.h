// The rules for the section `environment` of a job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_ENVIRONMENT_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_ENVIRONMENT_RULES_H_

#include <vector>

#include "proto/jobspec/rules/field_rules.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

void CheckEnvironment(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_ENVIRONMENT_RULES_H_
