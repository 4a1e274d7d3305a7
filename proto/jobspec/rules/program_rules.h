// Checks a job's program: command, environment, secrets, log parser, loss guard, failure rules, and
// checkpoint paths.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_PROGRAM_RULES_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_PROGRAM_RULES_H_

#include <vector>

#include "proto/contract/setting_rule.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Rejects checkpoint paths on kernel file systems, such as /proc/self/root/..., because such a path
// means a different directory in each process.
void CheckCheckpointPaths(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

void CheckProgram(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

void CheckLogParser(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

void CheckGuard(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

// Rejects invalid entries of `after`, and a job that names itself. Only the controller knows the
// other jobs.
void CheckAfter(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

void CheckFailureRules(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);
// Checks `launch.processes_per_node`.
void CheckProcesses(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);
void CheckSpares(const v1::JobSpec& spec, std::vector<SettingProblem>& problems);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_PROGRAM_RULES_H_
