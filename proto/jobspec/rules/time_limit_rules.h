// Checks the time limit of a job.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_TIME_LIMIT_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_TIME_LIMIT_RULES_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// The time between warning and limit if a job sets `time_limit_signal` but not
// `time_limit_warning`. Slurm uses the same time.
inline constexpr int kDefaultWarningSeconds = 60;

// Rejects settings of a limit that the job does not have, and a warning that is not before the
// limit.
void CheckTimeLimit(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_TIME_LIMIT_RULES_H_
