// Checks each field of a message against its FieldRule, by reflection.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_FIELD_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_FIELD_RULES_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Reports fields of the spec that violate their limits, pattern or number of entries.
void CheckFields(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_FIELD_RULES_H_
