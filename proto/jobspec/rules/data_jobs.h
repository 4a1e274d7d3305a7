// Job files of the kind data: defaults and rules.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_DATA_JOBS_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_DATA_JOBS_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Removes the settings that do not apply to data jobs from a spec that contains only defaults. In
// the spec of a data job such a setting is therefore present only if a user has written it.
void KeepDataSettings(v1::JobSpec& defaults);

// Derives settings of a data job from its other settings: the kind of slot is cpu.
void DeriveDataSettings(v1::JobSpec& spec, Origins& origins);

// Rejects data jobs without a pipeline, with settings of training, or on GPUs. Rejects a pipeline
// in a job of another kind.
void CheckDataJob(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_DATA_JOBS_H_
