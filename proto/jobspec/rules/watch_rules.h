// Rules for checkpoint.watch and checkpoint.step.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_WATCH_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_WATCH_RULES_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// `spec` must have its defaults.
void CheckWatch(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_WATCH_RULES_H_
